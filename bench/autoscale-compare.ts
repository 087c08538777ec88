// Compares autoscalers under the same loads at equal cost: of another autoscaler, the shortest p99
// wait over all targets counts, among those with no more pod-seconds than Pressroom.
import { type LoadShape, rendersOf } from './autoscale-loads.ts';
import { type Render, simulate } from './autoscale-pool.ts';
import { pressroom } from './autoscale-pressroom.ts';
import type { MakeAutoscaler } from './autoscalers.ts';

export interface Result {
  targetUtilization: number;
  waitP50Ms: number;
  waitP99Ms: number;
  /** The averages over all seeds. */
  podSeconds: number;
  sizeChanges: number;
}

export interface Scene {
  load: LoadShape;
  /** The renders of each seed. */
  runs: readonly { seed: number; renders: readonly Render[] }[];
  podStartMs: number;
  scrapeMs: number;
  apiScrapeMs: number;
}

/** Settings of all autoscalers. */
export const USUAL_TARGET = 0.7;
const SLOTS_PER_POD = 2;
const MAX_PODS = 100;
/** Default of PRESSROOM_PROMETHEUS_INTERVAL. */
const POLL_MS = 1_000;
/** More than 1 if the metric includes the queue. */
export const TARGETS = [
  0.03, 0.05, 0.07, 0.1, 0.14, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75,
  0.8, 0.9, 1, 1.2, 1.5, 2, 3, 5,
];
/** Smaller differences are not significant. */
const SAME = { share: 0.02, ms: 20 };

export function sceneOf(
  load: LoadShape,
  podStartMs: number,
  seeds: readonly number[],
  scrapeMs: number,
): Scene {
  return {
    load,
    runs: seeds.map(seed => ({ seed, renders: rendersOf(load, seed) })),
    podStartMs,
    scrapeMs,
    apiScrapeMs: scrapeMs,
  };
}

const quantile = (sorted: Float64Array, share: number) =>
  sorted[Math.floor((sorted.length - 1) * share)] ?? 0;

export function run(scene: Scene, make: MakeAutoscaler, targetUtilization = USUAL_TARGET): Result {
  const { load, runs, podStartMs, scrapeMs, apiScrapeMs } = scene;
  const bounds = {
    slotsPerPod: SLOTS_PER_POD,
    minPods: load.minPods,
    maxPods: MAX_PODS,
    targetUtilization,
  };
  const waitsMs = new Float64Array(runs.reduce((sum, { renders }) => sum + renders.length, 0));
  let [filled, podSeconds, sizeChanges] = [0, 0, 0];
  for (const { seed, renders } of runs) {
    const setting = {
      slotsPerPod: SLOTS_PER_POD,
      firstPods: load.minPods,
      podStartMs,
      scrapeMs,
      apiScrapeMs,
      durationMs: load.durationMs,
      seed: seed + 100,
    };
    const outcome = simulate(renders, make(bounds), setting);
    waitsMs.set(outcome.waitsMs, filled);
    filled += outcome.waitsMs.length;
    podSeconds += outcome.podSeconds / runs.length;
    sizeChanges += outcome.sizeChanges / runs.length;
  }
  waitsMs.sort();
  return {
    targetUtilization,
    waitP50Ms: quantile(waitsMs, 0.5),
    waitP99Ms: quantile(waitsMs, 0.99),
    podSeconds,
    sizeChanges,
  };
}

export const runPressroom = (scene: Scene): Result =>
  run(scene, bounds => pressroom(bounds, { scrapeIntervalMs: scene.apiScrapeMs, pollMs: POLL_MS }));

/**
 * The shortest p99 wait of an autoscaler at no more than `podSeconds` with any target; undefined if
 * it always costs more.
 */
export function bestAtCost(
  scene: Scene,
  make: MakeAutoscaler,
  podSeconds: number,
  targets: readonly number[] = TARGETS,
): Result | undefined {
  return targets
    .map(target => run(scene, make, target))
    .filter(result => result.podSeconds <= podSeconds)
    .sort((a, b) => a.waitP99Ms - b.waitP99Ms)[0];
}

export const noWorse = (mine: Result, other: Result | undefined): boolean =>
  other === undefined || mine.waitP99Ms <= other.waitP99Ms * (1 + SAME.share) + SAME.ms;
