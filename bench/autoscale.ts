// `npm run bench:autoscale [-- step noise …]`: compares the controller's autoscaler with HPA, KEDA
// and Knative in simulated time. Prints a table; exits with 1 if a target is missed. Target: on
// equal data, no other autoscaler has a shorter p99 wait at equal or lower cost in pod-seconds.
// Knative has per-second averages of its own; if only that makes it better, the table shows both on
// equal data.
import {
  bestAtCost,
  noWorse,
  type Result,
  run,
  runPressroom,
  type Scene,
  sceneOf,
  USUAL_TARGET,
} from './autoscale-compare.ts';
import { LOADS, type LoadShape } from './autoscale-loads.ts';
import { AUTOSCALERS, knativeOnPrometheus, type MakeAutoscaler } from './autoscalers.ts';

const SCRAPE_MS = 5_000;
/** Loads whose result depends on the scrape interval. */
const SCRAPES_MS: Record<string, number[]> = { 'short to long': [2_000, 5_000, 15_000, 30_000] };
const POD_STARTS_MS = [5_000, 15_000, 30_000];
/**
 * Number of runs, so that the p99 of a load with few bursts does not depend on the time of a
 * scrape.
 */
const RUNS: Record<string, number> = {
  step: 24,
  ramp: 6,
  spikes: 6,
  'day and night': 1,
  'hourly batch': 10,
  noise: 4,
  'short to long': 8,
  'jobs from zero': 12,
};
const seedsOf = (load: LoadShape) => Array.from({ length: RUNS[load.name]! }, (_, nth) => nth + 1);

const seconds = (ms: number) => `${(ms / 1_000).toFixed(2)} s`;
const hours = (podSeconds: number) => `${(podSeconds / 3_600).toFixed(1)} pod-h`;
const row = (name: string, result: Result, more = '') =>
  console.log(
    `  ${name.padEnd(10)} p50 ${seconds(result.waitP50Ms).padStart(7)}  p99 ${seconds(result.waitP99Ms).padStart(8)}  ${hours(result.podSeconds).padStart(11)}  ${result.sizeChanges.toFixed(0).padStart(4)} changes  ${more}`,
  );
const at = (best: Result | undefined) =>
  best
    ? `at no more pods: p99 ${seconds(best.waitP99Ms)} (target ${best.targetUtilization}, ${hours(best.podSeconds)})`
    : 'never at this cost';

/** The autoscalers that differ for the load. */
const autoscalersFor = ({ minPods }: LoadShape) =>
  Object.entries(AUTOSCALERS).filter(([name]) => minPods === 0 || name !== 'KEDA') as [
    keyof typeof AUTOSCALERS,
    MakeAutoscaler,
  ][];

/** Whether Knative is still better on equal data. */
function onEqualData(scene: Scene, mine: Result): { line: string; good: boolean } {
  const slow = bestAtCost(scene, knativeOnPrometheus, mine.podSeconds);
  const fastScene = { ...scene, apiScrapeMs: 1_000 };
  const mineFast = runPressroom(fastScene);
  const fast = bestAtCost(fastScene, AUTOSCALERS.Knative, mineFast.podSeconds);
  const good = noWorse(mine, slow) && noWorse(mineFast, fast);
  const line = `with Prometheus' data Knative has ${at(slow)}; with the API scraped each second Pressroom has p99 ${seconds(mineFast.waitP99Ms)} at ${hours(mineFast.podSeconds)}, and Knative ${at(fast)}`;
  return { line, good };
}

console.log(
  `Pods of 2 slots, at most 100. Prometheus scrapes every ${SCRAPE_MS / 1_000} s unless noted; the controller queries it every second. Renders take 0.2 to 2 s. Each autoscaler with target ${USUAL_TARGET}, then its shortest p99 wait over all targets at no more pod-seconds than Pressroom.\n`,
);
const verdicts: string[] = [];
let missed = 0;
for (const load of LOADS.filter(
  ({ name }) => process.argv.length < 3 || process.argv.includes(name),
))
  for (const [podStartMs, scrapeMs] of POD_STARTS_MS.flatMap(start =>
    (SCRAPES_MS[load.name] ?? [SCRAPE_MS]).map(scrape => [start, scrape] as const),
  )) {
    const scene = sceneOf(load, podStartMs, seedsOf(load), scrapeMs);
    const title = `${load.name}, pods start in ${podStartMs / 1_000} s${scrapeMs === SCRAPE_MS ? '' : `, scraped every ${scrapeMs / 1_000} s`}`;
    console.log(title);
    const mine = runPressroom(scene);
    row('Pressroom', mine);
    if (load.minPods > 0) console.log('  KEDA       same as HPA above one pod');
    const better: string[] = [];
    for (const [name, make] of autoscalersFor(load)) {
      // An HPA always keeps one pod, so it is compared with a Pressroom pool that does too.
      const kept = name === 'HPA' && load.minPods === 0;
      const beside = kept ? runPressroom({ ...scene, load: { ...load, minPods: 1 } }) : mine;
      const best = bestAtCost(scene, make, beside.podSeconds);
      row(name, run(scene, make, USUAL_TARGET), at(best));
      if (kept) row('+ 1 pod', beside, 'Pressroom with minReplicas 1, as HPA');
      if (!noWorse(beside, best)) better.push(name);
    }
    if (better.length === 0) verdicts.push(`met:    ${title}`);
    else {
      const { line, good } = onEqualData(scene, mine);
      const excused = good && better.every(name => name === 'Knative');
      if (!excused) missed++;
      console.log(`  ${line}`);
      verdicts.push(
        `${excused ? 'by data:' : 'MISSED: '} ${title}: ${better.join(' and ')} has a shorter wait at no more pods${excused ? `, but not on equal data` : ''}`,
      );
    }
  }
console.log(`\n${verdicts.join('\n')}`);
console.log(
  'met: no autoscaler has a shorter p99 wait at equal or fewer pod-seconds with any target. by data: only Knative has, only because of its per-second data.',
);
process.exitCode = missed > 0 ? 1 : 0;
