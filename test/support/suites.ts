// The suites of `npm test`, `test:cluster`, `test:faults` and `test:release`, and the distribution
// of their files over lanes, which run in parallel.
import { readdirSync, readFileSync } from 'node:fs';

export const SUITES = ['quick', 'cluster', 'faults', 'release'] as const;
export type SuiteName = (typeof SUITES)[number];

interface Suite {
  folders: readonly string[];
  /** Many tests of `quick` wait: three lanes keep two cores busy. */
  lanes: number;
  /** Stops a longer run. CI runs `quick` and then `cluster` within 90 minutes. */
  limitMinutes: number;
}

export const suites: Record<SuiteName, Suite> = {
  quick: { folders: ['unit', 'integration', 'browser', 'fault'], lanes: 3, limitMinutes: 38 },
  cluster: { folders: ['cluster'], lanes: 2, limitMinutes: 48 },
  faults: { folders: ['fault/long'], lanes: 2, limitMinutes: 60 },
  // Apart from the cluster suite, because its programs take long to build: cosign, oras, registry.
  release: { folders: ['release'], lanes: 2, limitMinutes: 90 },
};

const TEST = new URL('../', import.meta.url);
const LONG = /^test\/fault\/long\//;

/** Paths relative to the repository root, in the order of the folders. */
export function filesOf(name: SuiteName): string[] {
  return suites[name].folders.flatMap(folder =>
    readdirSync(new URL(`${folder}/`, TEST), { recursive: true, encoding: 'utf8' })
      .filter(file => file.endsWith('.test.ts'))
      .sort()
      .map(file => `test/${folder}/${file}`)
      .filter(file => name === 'faults' || !LONG.test(file)),
  );
}

/**
 * Files that share the images built by one process, that use the whole machine, or that measure it:
 * with heavy pages beside it, Prometheus misses scrapes, and no pool shrinks. They run in one lane,
 * so never in parallel.
 */
const IN_TURN =
  /^test\/(cluster\/(images\.|image-contents\.|end-to-end\.|node\/node\.|controller-load\.|controller-many\.)|release\/|fault\/long\/hostile-)/;

/** The default for a file without a measured time. */
const UNKNOWN_SECONDS = 3;

/**
 * Balances lanes by the files' measured seconds: assigns the longest file first, each to the lane
 * that is the shortest so far. Within a lane the files keep their order.
 */
export function lanesOf(
  files: readonly string[],
  seconds: Readonly<Record<string, number>>,
  count: number,
): string[][] {
  const blocks = Object.values(
    Object.groupBy(files, file => (IN_TURN.test(file) ? 'in turn' : file)),
  ).map(block => ({
    files: block!,
    seconds: block!.reduce((sum, file) => sum + (seconds[file] ?? UNKNOWN_SECONDS), 0),
  }));
  const lanes = Array.from({ length: count }, () => ({ files: new Set<string>(), seconds: 0 }));
  for (const block of blocks.sort((a, b) => b.seconds - a.seconds)) {
    const lane = lanes.reduce((shortest, each) =>
      each.seconds < shortest.seconds ? each : shortest,
    );
    for (const file of block.files) lane.files.add(file);
    lane.seconds += block.seconds;
  }
  return lanes
    .map(lane => files.filter(file => lane.files.has(file)))
    .filter(lane => lane.length > 0);
}

/** Seconds per file from the last committed measurement. */
export const measuredSeconds = (): Record<string, number> =>
  JSON.parse(readFileSync(new URL('timings.json', TEST), 'utf8'));
