// Runs helm on the chart: renders it into objects, or throws the error of helm.
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { parseAllDocuments } from 'yaml';
import { skip } from '../../support/skip.ts';
import { kubeBinaries, whyNoBinaries } from '../kube/binaries.ts';

const run = promisify(execFile);

export const CHART = fileURLToPath(new URL('../../../charts/pressroom', import.meta.url));
export const NAMESPACE = 'press';
export const RELEASE = 'room';

/** The only required value: the location of MongoDB. */
export const LEAST = { mongodb: { existingSecret: 'database' } };

// biome-ignore lint/suspicious/noExplicitAny: objects of any kind, read by tests
export type KubeObject = any;
export type Values = Record<string, unknown>;

export interface Helm {
  /** Runs helm and returns its output. Rejects with an Error that contains the output. */
  (args: string[], env?: NodeJS.ProcessEnv): Promise<string>;
  /** The objects of a release with these values, including hooks and tests. */
  template(values?: Values, ...args: string[]): Promise<KubeObject[]>;
}

export const objectsOf = (text: string): KubeObject[] =>
  parseAllDocuments(text)
    .map(document => {
      if (document.errors.length > 0) throw document.errors[0];
      return document.toJS();
    })
    .filter(object => object !== null);

/** Calls `use` with the path of a values file. */
export async function withValues<T>(values: Values, use: (file: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'pressroom-values-'));
  try {
    const file = join(folder, 'values.json');
    await writeFile(file, JSON.stringify(values));
    return await use(file);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The binaries of the major versions of Helm. */
const PROGRAMS = { 3: 'helm', 4: 'helm4' } as const;
export type HelmMajor = keyof typeof PROGRAMS;
/** Helm 4 uses the name of its executable as its field manager. */
const AS_HELM = 'exec -a helm "$0" "$@"';

/**
 * Helm from the cache, or built. Skips the suite if neither is possible. Call it in `before` with
 * the time limit for builds.
 */
export async function findHelm(context: Mocha.Context, major: HelmMajor = 3): Promise<Helm> {
  const name = PROGRAMS[major];
  const why = whyNoBinaries([name]);
  if (why !== undefined) skip(context, why);
  const { [name]: program } = await kubeBinaries<'helm' | 'helm4'>([name]);
  const helm = async (args: string[], env: NodeJS.ProcessEnv = process.env) => {
    try {
      return (
        await run('bash', ['-c', AS_HELM, program, ...args], { env, maxBuffer: 64 * 2 ** 20 })
      ).stdout;
    } catch (error) {
      const { stdout, stderr } = error as { stdout: string; stderr: string };
      throw new Error(`helm ${args[0]}: ${stderr}${stdout.slice(0, 2_000)}`);
    }
  };
  const template: Helm['template'] = (values = {}, ...args) =>
    withValues({ ...LEAST, ...values }, async file =>
      objectsOf(
        await helm([
          'template',
          RELEASE,
          CHART,
          '--namespace',
          NAMESPACE,
          '--values',
          file,
          ...args,
        ]),
      ),
    );
  return Object.assign(helm, { template });
}

/** The only object of that kind and name. */
export function one(objects: KubeObject[], kind: string, name?: string): KubeObject {
  const found = objects.filter(
    object => object.kind === kind && (name === undefined || object.metadata.name === name),
  );
  if (found.length !== 1)
    throw new Error(
      `${found.length} objects match ${kind} ${name ?? ''}. Existing objects: ${objects.map(({ kind, metadata }) => `${kind}/${metadata.name}`).join(', ')}`,
    );
  return found[0];
}

/** The pod or pod template of an object, or undefined. */
export function podOf(object: KubeObject): { metadata: KubeObject; spec: KubeObject } | undefined {
  if (object.kind === 'Pod') return { metadata: object.metadata, spec: object.spec };
  return object.spec?.template?.spec?.containers ? object.spec.template : undefined;
}
