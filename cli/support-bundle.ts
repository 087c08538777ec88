// `pressroom support-bundle`: collects what support needs from a cluster with kubectl and the rights
// of its user, in one archive. What may be in it is in bundle-contents.ts.
import { rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { parseDurationMs } from '../common/units.ts';
import { createBundleFile, writeBundleFile } from './bundle-archive.ts';
import {
  type JsonObject,
  shownChecks,
  shownDeployment,
  shownEvent,
  shownLogLine,
  shownMetrics,
  shownPod,
  shownPool,
} from './bundle-contents.ts';
import { COMMAND } from './command-name.ts';
import { CliError, wrongUsage } from './failure.ts';
import { clusterVersions, KubectlError, kubectl, whyLeftOut } from './kubectl.ts';
import type { Terminal } from './terminal.ts';

interface BundleOptions {
  namespace: string;
  since: string;
  output?: string;
}

const MAX_LINES = 50_000;
const SELECTOR = '--selector=app.kubernetes.io/name=pressroom';
const PROCESSES = ['api', 'worker', 'controller'];
/** In the pod, because a network policy admits only Prometheus to this port. */
const READ_METRICS =
  'fetch("http://127.0.0.1:9090/metrics").then(r => r.text()).then(t => process.stdout.write(t))';

const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;

interface PodOfBundle {
  metadata: { name: string; labels?: Record<string, string> };
  status?: { phase?: string; containerStatuses?: { restartCount?: number }[] };
}

/** Files by name. A part that cannot be collected is reported and left out. */
class BundleFiles {
  readonly files = new Map<string, string>();
  readonly missing: string[] = [];
  readonly #notify: Terminal['notify'];

  constructor(notify: Terminal['notify']) {
    this.#notify = notify;
  }

  async add(name: string, content: () => Promise<string>): Promise<void> {
    try {
      this.files.set(name, await content());
    } catch (error) {
      if (error instanceof CliError) throw error;
      // The reason is for the terminal only, because it may quote anything.
      this.missing.push(name);
      this.#notify(`Left out ${name}: ${whyLeftOut(error as Error)}`);
    }
  }
}

async function addPod(
  { metadata: { name, labels = {} }, status }: PodOfBundle,
  { namespace, since }: BundleOptions,
  bundle: BundleFiles,
): Promise<void> {
  const logs = async (...more: string[]) => {
    const limits = [`--since=${since}`, `--tail=${MAX_LINES}`];
    const text = await kubectl('logs', `--namespace=${namespace}`, name, ...limits, ...more);
    const lines = text.split('\n').flatMap(line => shownLogLine(line) ?? []);
    return lines.map(line => `${line}\n`).join('');
  };
  await bundle.add(`logs/${name}.jsonl`, () => logs());
  if (status?.containerStatuses?.some(({ restartCount }) => restartCount))
    await bundle.add(`logs/${name}.previous.jsonl`, () => logs('--previous'));
  const isProcess = PROCESSES.includes(labels['app.kubernetes.io/component'] ?? '');
  if (status?.phase === 'Running' && isProcess)
    await bundle.add(`metrics/${name}.txt`, async () => {
      const program = ['--', 'node', '--eval', READ_METRICS];
      return `${shownMetrics(await kubectl('exec', `--namespace=${namespace}`, name, ...program))}\n`;
    });
}

/** Of `pressroom doctor`, which exits with 1 when a check is an error. */
async function doctorChecks(namespace: string, pod: string): Promise<string> {
  const program = ['--', 'pressroom', 'doctor', '--json'];
  const output = await kubectl('exec', `--namespace=${namespace}`, pod, ...program).catch(error => {
    if (error instanceof KubectlError && error.stdout.startsWith('{')) return error.stdout;
    throw error;
  });
  return json(shownChecks(JSON.parse(output) as JsonObject));
}

async function collect(options: BundleOptions, bundle: BundleFiles): Promise<void> {
  const { namespace } = options;
  const listed = <T>(
    kind: string,
    shown: (object: JsonObject) => T,
    keep = (_: JsonObject[]) => {},
  ) =>
    bundle.add(`${kind}.json`, async () => {
      const selector = kind === 'pods' || kind === 'deployments' ? [SELECTOR] : [];
      const args = ['get', kind, `--namespace=${namespace}`, ...selector, '--output=json'];
      const { items } = JSON.parse(await kubectl(...args)) as { items: JsonObject[] };
      keep(items);
      return json(items.map(shown));
    });

  const versions = await clusterVersions();
  let pods: PodOfBundle[] | undefined;
  await listed('pods', shownPod, items => {
    pods = items as unknown as PodOfBundle[];
  });
  await listed('deployments', shownDeployment);
  await listed('browserpools', shownPool);
  await listed('events', shownEvent);
  if (bundle.files.size === 0)
    throw new CliError(
      `Your user can read nothing in the namespace ${namespace}. Ask for the rights in docs/command-line.md.`,
    );
  if (pods?.length === 0)
    throw new CliError(`No pod of Pressroom is in the namespace ${namespace}. Check --namespace.`);
  bundle.files.set('versions.json', json(versions));
  const ofRelease = new Map<string, string>();
  for (const { metadata, status } of pods ?? []) {
    const { 'app.kubernetes.io/component': component, 'app.kubernetes.io/instance': release = '' } =
      metadata.labels ?? {};
    if (component === 'api' && status?.phase === 'Running') ofRelease.set(release, metadata.name);
  }
  for (const name of ofRelease.values())
    await bundle.add(`doctor/${name}.json`, () => doctorChecks(namespace, name));
  for (const pod of pods ?? []) await addPod(pod, options, bundle);
}

async function makeBundle(options: BundleOptions, { print, notify }: Terminal): Promise<void> {
  if (parseDurationMs(options.since) === undefined)
    throw wrongUsage(`--since must be a duration such as 30m or 24h. \`${options.since}\` is not.`);
  const time = new Date().toISOString().slice(0, 19).replaceAll(/[:T]/g, '-');
  const output = resolve(options.output ?? `pressroom-support-${time}.tar.gz`);
  const bundle = new BundleFiles(notify);
  await createBundleFile(output);
  try {
    await collect(options, bundle);
    bundle.files.set('missing.json', json(bundle.missing));
    await writeBundleFile(output, bundle.files);
  } catch (error) {
    await rm(output, { force: true });
    throw error;
  }
  print(`${output}\n`);
  notify('Look through the archive before you send it.');
}

export function addSupportBundleCommand(program: Command, terminal: Terminal): void {
  program
    .command('support-bundle')
    .description('Collect logs, metrics, events, configuration and checks of a cluster for support')
    .requiredOption('--namespace <namespace>', 'Namespace of the installation')
    .option('--since <duration>', 'Age of the oldest log line', '1h')
    .option('-o, --output <file>', 'New archive (default: pressroom-support-<time>.tar.gz)')
    .addHelpText(
      'after',
      `\nRequires kubectl and tar. Values of secrets, texts of events and paths of requests are left out.\n\nExample:\n  ${COMMAND} support-bundle --namespace pressroom`,
    )
    .action((options: BundleOptions) => makeBundle(options, terminal));
}
