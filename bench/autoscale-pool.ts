// Simulates a pool of workers: arrivals, queue, pods that start, drain and end, Prometheus scrapes,
// and an autoscaler. Deterministic by seed.
import { createChance } from '../test/fault/harness/random.ts';

export interface Render {
  atMs: number;
  serviceMs: number;
}

/** The input of an autoscaler. */
export interface View {
  /** Desired replicas of the Deployment. */
  pods: number;
  readyPods: number;
  /** The last samples of Prometheus, each process scraped at its own time. */
  scraped: {
    busySlots: number;
    runningMs: number;
    queuedRenders: number;
    oldestWaitMs: number;
    sampleAgeMs: number;
  };
  /**
   * Average of running and queued renders since the last call, as measured by a proxy in the
   * request path.
   */
  averageWork(): number;
}

export interface Look {
  /** The desired size; undefined for no change. */
  pods: number | undefined;
  againMs: number;
}

/** An autoscaler returns the time of its next call. */
export type Autoscaler = (view: View, nowMs: number) => Look;

export interface Setting {
  slotsPerPod: number;
  firstPods: number;
  podStartMs: number;
  /** Scrape intervals of the workers and the API. */
  scrapeMs: number;
  apiScrapeMs: number;
  durationMs: number;
  seed: number;
}

export interface Outcome {
  /** Waiting time of each render in the order of slot assignment. */
  waitsMs: Float64Array;
  podSeconds: number;
  sizeChanges: number;
}

interface Pod {
  state: 'starting' | 'ready' | 'draining';
  sinceMs: number;
  busy: number;
  /** Start time of each of its renders. */
  beganMs: number[];
  scraped: { busy: number; runningMs: number };
}

/**
 * Number of API pods, the chart's default. Renders are distributed evenly, and each pod reports its
 * own queue.
 */
const API_PROCESSES = 2;

interface Event {
  atMs: number;
  nth: number;
  run(): void;
}

/** Orders events by time, then by creation. */
function createAgenda() {
  const heap: Event[] = [];
  let made = 0;
  const before = (a: Event, b: Event) => a.atMs < b.atMs || (a.atMs === b.atMs && a.nth < b.nth);
  return {
    at(atMs: number, run: () => void) {
      const event = { atMs, nth: made++, run };
      let i = heap.push(event) - 1;
      while (i > 0 && before(event, heap[(i - 1) >> 1]!)) {
        heap[i] = heap[(i - 1) >> 1]!;
        i = (i - 1) >> 1;
      }
      heap[i] = event;
    },
    nextMs: () => heap[0]?.atMs ?? Number.POSITIVE_INFINITY,
    take(): Event {
      const first = heap[0]!;
      const last = heap.pop()!;
      if (heap.length === 0) return first;
      let i = 0;
      for (;;) {
        let child = 2 * i + 1;
        if (child >= heap.length) break;
        if (child + 1 < heap.length && before(heap[child + 1]!, heap[child]!)) child++;
        if (before(last, heap[child]!)) break;
        heap[i] = heap[child]!;
        i = child;
      }
      heap[i] = last;
      return first;
    },
  };
}

/**
 * Simulates `renders` (ordered by time) with an autoscaler. Renders without a slot at the end count
 * as waiting until then.
 */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one simulation, whose steps share its state
export function simulate(
  renders: readonly Render[],
  autoscaler: Autoscaler,
  setting: Setting,
): Outcome {
  const { slotsPerPod, scrapeMs, apiScrapeMs, durationMs } = setting;
  const chance = createChance(setting.seed);
  const agenda = createAgenda();
  let nowMs = 0;
  let pods: Pod[] = [];
  let desired = setting.firstPods;
  let podMs = 0;
  let sizeChanges = 0;

  const waitsMs = new Float64Array(renders.length);
  let started = 0; // renders before this one have a slot
  let come = 0; // renders before this one have arrived
  let busy = 0;
  let [workMs, workAtMs, workAskedMs] = [0, 0, 0];
  const account = () => {
    workMs += (busy + come - started) * (nowMs - workAtMs);
    workAtMs = nowMs;
  };

  const end = (pod: Pod) => {
    pods = pods.filter(other => other !== pod);
    podMs += nowMs - pod.sinceMs;
  };

  /** The busiest pod with a free slot, so that other pods become idle. */
  function freePod(): Pod | undefined {
    let best: Pod | undefined;
    for (const pod of pods) {
      if (pod.state !== 'ready' || pod.busy >= slotsPerPod || (best && pod.busy <= best.busy))
        continue;
      best = pod;
      if (pod.busy === slotsPerPod - 1) break;
    }
    return best;
  }

  function serve() {
    while (started < come) {
      const pod = freePod();
      if (!pod) return;
      const render = renders[started]!;
      waitsMs[started++] = nowMs - render.atMs;
      const beganMs = nowMs;
      pod.busy++;
      pod.beganMs.push(beganMs);
      busy++;
      agenda.at(nowMs + render.serviceMs, () => {
        account();
        pod.busy--;
        pod.beganMs.splice(pod.beganMs.indexOf(beganMs), 1);
        busy--;
        if (pod.state === 'draining' && pod.busy === 0) end(pod);
        serve();
      });
    }
  }

  function startPod(startMs: number) {
    const pod: Pod = {
      state: 'starting',
      sinceMs: nowMs,
      busy: 0,
      beganMs: [],
      scraped: { busy: 0, runningMs: 0 },
    };
    pods.push(pod);
    agenda.at(nowMs + startMs, () => {
      if (pod.state !== 'starting') return;
      pod.state = 'ready';
      every(chance.next() * scrapeMs, () => {
        pod.scraped = {
          busy: pod.busy,
          runningMs: pod.beganMs.reduce((sum, beganMs) => sum + nowMs - beganMs, 0),
        };
        return pods.includes(pod) ? scrapeMs : undefined;
      });
      account();
      serve();
    });
  }

  /** The order in which a ReplicaSet removes pods: not ready, then idle (pod-deletion-cost). */
  function resize(size: number) {
    if (size === desired) return;
    desired = size;
    sizeChanges++;
    const staying = pods.filter(pod => pod.state !== 'draining');
    for (let missing = size - staying.length; missing > 0; missing--) {
      startPod(setting.podStartMs * (0.8 + 0.4 * chance.next()));
    }
    const rank = (pod: Pod) => (pod.state === 'starting' ? -1 : pod.busy);
    for (const pod of staying
      .sort((a, b) => rank(a) - rank(b))
      .slice(0, Math.max(0, staying.length - size))) {
      pod.state = 'draining';
      if (pod.busy === 0) end(pod);
    }
  }

  /** Calls a function repeatedly after the delay that it returns, until it returns undefined. */
  function every(firstMs: number, run: () => number | undefined) {
    agenda.at(nowMs + firstMs, () => {
      const againMs = run();
      if (againMs !== undefined) every(againMs, run);
    });
  }

  const queues = Array.from({ length: API_PROCESSES }, () => ({
    queued: 0,
    oldestWaitMs: 0,
    atMs: 0,
  }));
  for (const [process, queue] of queues.entries())
    every(chance.next() * apiScrapeMs, () => {
      [queue.queued, queue.oldestWaitMs, queue.atMs] = [0, 0, nowMs];
      for (let i = started; i < come; i++) {
        if (i % API_PROCESSES !== process) continue;
        if (queue.queued++ === 0) queue.oldestWaitMs = nowMs - renders[i]!.atMs;
      }
      return apiScrapeMs;
    });
  function scraped() {
    const there = pods.filter(({ state }) => state !== 'starting');
    return {
      busySlots: there.reduce((sum, pod) => sum + pod.scraped.busy, 0),
      runningMs: there.reduce((sum, pod) => sum + pod.scraped.runningMs, 0),
      queuedRenders: queues.reduce((sum, { queued }) => sum + queued, 0),
      oldestWaitMs: Math.max(...queues.map(queue => queue.oldestWaitMs)),
      sampleAgeMs: nowMs - Math.max(...queues.map(queue => queue.atMs)),
    };
  }
  const view = (): View => ({
    pods: desired,
    readyPods: pods.filter(({ state }) => state === 'ready').length,
    scraped: scraped(),
    averageWork() {
      account();
      const average = nowMs > workAskedMs ? workMs / (nowMs - workAskedMs) : busy + come - started;
      [workMs, workAskedMs] = [0, nowMs];
      return average;
    },
  });
  for (let i = 0; i < setting.firstPods; i++) startPod(0);
  every(scrapeMs + chance.next() * scrapeMs, () => {
    const { pods: size, againMs } = autoscaler(view(), nowMs);
    if (size !== undefined) resize(size);
    return againMs;
  });

  for (;;) {
    const arrivesMs = renders[come]?.atMs ?? Number.POSITIVE_INFINITY;
    const nextMs = Math.min(arrivesMs, agenda.nextMs());
    if (nextMs > durationMs) break;
    nowMs = nextMs;
    account();
    if (arrivesMs <= agenda.nextMs()) {
      come++;
      serve();
    } else agenda.take().run();
  }
  nowMs = durationMs;
  for (let i = started; i < renders.length; i++) waitsMs[i] = Math.max(0, nowMs - renders[i]!.atMs);
  for (const pod of pods) podMs += nowMs - pod.sinceMs;
  return { waitsMs, podSeconds: podMs / 1_000, sizeChanges };
}
