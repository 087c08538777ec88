// Runs kubeconform with schemas generated from the OpenAPI document of an API server.
import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Cluster } from '../kube/cluster.ts';
import type { KubeObject } from './helm.ts';

const run = promisify(execFile);

type Json = { [key: string]: unknown };
type Definitions = Record<string, Json>;
const PREFIX = '#/definitions/';

/** Makes a schema strict: unknown fields are errors. Converts the format int-or-string. */
function strict(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(strict);
  if (typeof node !== 'object' || node === null) return node;
  if ((node as Json).format === 'int-or-string')
    return { oneOf: [{ type: 'string' }, { type: 'integer' }] };
  // Other formats only describe number types. A field named `format` has a schema as its value.
  const entries = Object.entries(node).filter(
    ([key, value]) => !(key === 'format' && typeof value === 'string'),
  );
  const kept = Object.fromEntries(entries.map(([key, value]) => [key, strict(value)]));
  const open =
    kept.additionalProperties !== undefined ||
    kept['x-kubernetes-preserve-unknown-fields'] === true;
  return 'properties' in kept && !open ? { ...kept, additionalProperties: false } : kept;
}

/** Adds all definitions that `node` references to `found`. */
function collect(node: unknown, all: Definitions, found: Definitions): void {
  if (typeof node !== 'object' || node === null) return;
  const { $ref } = node as { $ref?: unknown };
  const name = typeof $ref === 'string' ? $ref.slice(PREFIX.length) : undefined;
  if (name !== undefined && !(name in found)) {
    found[name] = all[name]!;
    collect(all[name], all, found);
  }
  for (const each of Object.values(node)) collect(each, all, found);
}

/** Writes self-contained schemas of all kinds of the API server to `folder`. */
export async function writeSchemas(cluster: Cluster, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const document = (await cluster.get('/openapi/v2')) as { definitions: Definitions };
  const all = strict(document.definitions) as Definitions;
  for (const [name, definition] of Object.entries(document.definitions))
    for (const { group, version, kind } of (definition['x-kubernetes-group-version-kind'] ??
      []) as {
      group: string;
      version: string;
      kind: string;
    }[]) {
      const schema = { $ref: `${PREFIX}${name}`, definitions: {} };
      collect({ $ref: schema.$ref }, all, schema.definitions);
      const suffix = [group.split('.')[0], version].filter(part => part !== '').join('-');
      await writeFile(join(folder, `${kind}-${suffix}.json`.toLowerCase()), JSON.stringify(schema));
    }
}

/** The errors of `kubeconform -strict`; empty without errors. An object without a schema is one. */
export async function kubeconform(
  program: string,
  folder: string,
  objects: KubeObject[],
  file: string,
): Promise<string> {
  await writeFile(file, objects.map(object => JSON.stringify(object)).join('\n---\n'));
  const location = `${folder}/{{.ResourceKind}}{{.KindSuffix}}.json`;
  return run(program, ['-strict', '-schema-location', location, file]).then(
    () => '',
    ({ stdout, stderr }: { stdout: string; stderr: string }) => `${stdout}${stderr}`,
  );
}
