// A pool of workers in simulated time: renders come, wait for a slot and are rendered; pods start,
// drain and end; Prometheus looks; an autoscaler decides. The same seed gives the same run.
import { createChance } from '../test/fault/harness/random.ts';

export interface Render {
  atMs: number;
  serviceMs: number;
}

/** What an autoscaler can know. */
export interface View {
  /** What the Deployment asks for. */
  pods: number;
  readyPods: number;
  /** As Prometheus scraped it last, each process at a moment of its own. */
  scraped: {
    busySlots: number;
    runningMs: number;
    queuedRenders: number;
    oldestWaitMs: number;
    sampleAgeMs: number;
  };
  /**
   * Renders on slots and in the queue on average since it was last asked, as a proxy in the path of
   * the requests would know.
   */
  averageWork(): number;
}

export interface Look {
  /** The wanted size; undefined leaves it. */
  pods: number | undefined;
  againMs: number;
}

/** An autoscaler is asked when it wants to be. */
export type Autoscaler = (view: View, nowMs: number) => Look;

export interface Setting {
  slotsPerPod: number;
  firstPods: number;
  podStartMs: number;
  /** How often Prometheus asks the workers, and the API's processes. */
  scrapeMs: number;
  apiScrapeMs: number;
  durationMs: number;
  seed: number;
}

export interface Outcome {
  /** Of each render, in the order in which they came to a slot. */
  waitsMs: Float64Array;
  podSeconds: number;
  sizeChanges: number;
  /** Each size that was asked for, from when on. */
  sizes: { atMs: number; pods: number }[];
}

interface Pod {
  state: 'starting' | 'ready' | 'draining';
  sinceMs: number;
  busy: number;
  /** When each of its renders came to a slot. */
  beganMs: number[];
  scraped: { busy: number; runningMs: number };
}

/** The chart's default. Renders come to each alike, and each tells its own queue. */
const API_PROCESSES = 2;

interface Event {
  atMs: number;
  nth: number;
  run(): void;
}

/** Events in the order of their time, and of their making when at once. */
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
 * Runs `renders` (in the order of their time) through a pool whose size `autoscaler` decides.
 * Renders that never came to a slot count as waiting until the end.
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
  let wanted = setting.firstPods;
  let podMs = 0;
  const sizes = [{ atMs: 0, pods: wanted }];

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

  /** The busiest pod with a free slot: so that some stay empty and can go. */
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

  /**
   * The order in which a ReplicaSet takes pods away: those that are not ready first, then the idle
   * ones (pod-deletion-cost).
   */
  function resize(size: number) {
    if (size === wanted) return;
    wanted = size;
    sizes.push({ atMs: nowMs, pods: size });
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

  /** Runs it again and again, each time after as long as it says, until it says nothing. */
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
    pods: wanted,
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
  return { waitsMs, podSeconds: podMs / 1_000, sizeChanges: sizes.length - 1, sizes };
}
