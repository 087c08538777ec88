// Starts a real Prometheus on a free loopback port with the targets and rules of a test. It always
// ends with the test process.
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ownPort } from '../fault/harness/ports.ts';
import { eventually } from '../support/eventually.ts';
import { httpCall } from '../support/http-call.ts';
import { startLeashed } from './kube/leashed-process.ts';
import type { PrometheusBinaries } from './prometheus-binaries.ts';

/** Time limit for the start and for `until` on a busy machine. */
const LIMIT_MS = 60_000;
/** New samples appear once per second at best. */
const ASK_MS = 250;
/** Longer than one scrape. */
const SCRAPE_MS = 200;

export interface Target {
  /** `host:port` of /metrics. */
  address: string;
  /** Labels from discovery: `namespace`, `pod`, `job`. Labels of the process take precedence. */
  labels: Record<string, string>;
}

export interface Sample {
  labels: Record<string, string>;
  value: number;
}

export interface Prometheus {
  readonly url: string;
  readonly pid: number;
  /** The samples of an instant query. Rejects with the query if it is invalid. */
  query(promql: string): Promise<Sample[]>;
  /** Resolves with the samples once `fits` is true (default: at least one sample). */
  until(promql: string, fits?: (samples: Sample[]) => boolean): Promise<Sample[]>;
  /**
   * Resolves at the start of the longest time without a scrape of these series, so that the next
   * scrapes see the whole of what begins then.
   */
  untilLongestPause(selector: string): Promise<void>;
  /** The `data` of a GET request below /api/v1. */
  api<T>(path: string): Promise<T>;
  /** Replaces the targets; takes effect within a second or two. */
  setTargets(targets: Target[]): Promise<void>;
  freeze(): Promise<void>;
  thaw(): void;
  stop(): Promise<void>;
}

interface Options {
  binaries: PrometheusBinaries;
  targets?: Target[];
  /** Scrape and evaluation interval in whole seconds. */
  intervalS?: number;
  ruleFiles?: string[];
  /** Listens on all addresses instead of loopback only, for pods of a real node. */
  everywhere?: boolean;
}

const configuration = (intervalS: number, targetsFile: string, ruleFiles: string[]) => ({
  global: {
    scrape_interval: `${intervalS}s`,
    scrape_timeout: `${intervalS}s`,
    evaluation_interval: `${intervalS}s`,
  },
  rule_files: ruleFiles,
  scrape_configs: [
    {
      job_name: 'pods',
      honor_labels: true,
      file_sd_configs: [{ files: [targetsFile], refresh_interval: '1s' }],
    },
  ],
});

interface Answer<T> {
  status: 'success' | 'error';
  data: T;
  error?: string;
}

interface QueryData {
  resultType: 'vector' | 'scalar' | 'matrix' | 'string';
  result: unknown;
}

function samplesOf({ resultType, result }: QueryData): Sample[] {
  if (resultType === 'scalar')
    return [{ labels: {}, value: Number((result as [number, string])[1]) }];
  if (resultType !== 'vector')
    throw new Error(`unexpected result type ${resultType} of an instant query`);
  return (result as { metric: Record<string, string>; value: [number, string] }[]).map(
    ({ metric, value }) => ({
      labels: metric,
      value: Number(value[1]),
    }),
  );
}

/** Resolves when it is ready. */
export async function startPrometheus({
  binaries,
  targets = [],
  intervalS = 1,
  ruleFiles = [],
  everywhere = false,
}: Options): Promise<Prometheus> {
  const folder = await mkdtemp(join(tmpdir(), 'pressroom-prometheus-'));
  const file = (name: string) => join(folder, name);
  const setTargets = async (targets: Target[]) => {
    const groups = targets.map(({ address, labels }) => ({ targets: [address], labels }));
    await writeFile(file('targets.next'), JSON.stringify(groups));
    // Written atomically, because Prometheus may read it at any time.
    await rename(file('targets.next'), file('targets.json'));
  };
  await setTargets(targets);
  // JSON is YAML.
  await writeFile(
    file('prometheus.yml'),
    JSON.stringify(configuration(intervalS, file('targets.json'), ruleFiles)),
  );
  const port = await ownPort();
  const url = `http://127.0.0.1:${port}`;
  const listen = `${everywhere ? '0.0.0.0' : '127.0.0.1'}:${port}`;
  const args = [
    `--config.file=${file('prometheus.yml')}`,
    `--storage.tsdb.path=${file('data')}`,
    `--web.listen-address=${listen}`,
  ];
  const process = startLeashed(
    'prometheus',
    [binaries.prometheus, ...args],
    file('prometheus.log'),
  );

  const stop = async () => {
    await process.kill();
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  };

  async function api<T>(path: string): Promise<T> {
    const answer = await httpCall(port, 'GET', `/api/v1/${path}`);
    const { status, data, error } = JSON.parse(answer.body.toString()) as Answer<T>;
    if (status !== 'success')
      throw new Error(`Prometheus rejected ${decodeURIComponent(path)}: ${error}`);
    return data;
  }

  const query = async (promql: string) =>
    samplesOf(await api<QueryData>(`query?query=${encodeURIComponent(promql)}`));

  const until: Prometheus['until'] = async (promql, fits = samples => samples.length > 0) => {
    for (const end = performance.now() + LIMIT_MS; ; await sleep(ASK_MS)) {
      const samples = await query(promql);
      if (fits(samples)) return samples;
      if (performance.now() > end)
        throw new Error(`${promql} returned ${JSON.stringify(samples.slice(0, 5))}`);
    }
  };

  /** Prometheus scrapes a target always at the same offset within the interval. */
  async function untilLongestPause(selector: string): Promise<void> {
    const intervalMs = intervalS * 1_000;
    const samples = await until(`timestamp(${selector})`);
    const offsets = samples
      .map(({ value }) => (value * 1_000) % intervalMs)
      .sort((one, other) => one - other);
    const [longest] = offsets
      .map((startMs, index) => ({
        startMs,
        pauseMs: (offsets[index + 1] ?? offsets[0]! + intervalMs) - startMs,
      }))
      .sort((one, other) => other.pauseMs - one.pauseMs);
    const inMs = longest!.startMs + SCRAPE_MS - (Date.now() % intervalMs);
    await sleep((inMs + intervalMs) % intervalMs);
  }

  try {
    await eventually(async () => {
      if (!process.alive()) return;
      const { status } = await httpCall(port, 'GET', '/-/ready');
      if (status !== 200) throw new Error(`Prometheus is not ready: ${status}`);
    }, LIMIT_MS);
    if (!process.alive()) throw new Error(`Prometheus exited at startup: ${process.logTail()}`);
  } catch (error) {
    await stop();
    throw error;
  }

  return {
    url,
    pid: process.pid,
    query,
    until,
    untilLongestPause,
    api,
    setTargets,
    freeze: process.freeze,
    thaw: process.thaw,
    stop,
  };
}
