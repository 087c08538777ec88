import { expect } from 'chai';
import { silentLog } from '../../../../common/log.ts';
import { createMetrics } from '../../../../common/operations.ts';
import { LoadCache } from '../../../../controller/load/load-cache.ts';
import type { Series } from '../../../../controller/load/prometheus.ts';
import { observe } from '../../../../controller/observe.ts';
import { eventually } from '../../../support/eventually.ts';

const HOUR_MS = 3_600_000;

const series = (name: string, pod: string, value: number, job = 'pods'): Series => ({
  labels: {
    __name__: name,
    namespace: 'press',
    pool: 'main',
    pod,
    job,
    ...(name === 'pressroom_slots' && { state: 'claimed' }),
  },
  value,
});
const fact = (name: string, value: number): Series => ({
  labels: { fact: name, namespace: 'press', pool: 'main' },
  value,
});
const facts = (apis: number) => [fact('age', 1), fact('samples', 12), fact('seen', apis)];

describe('load cache', () => {
  let loadCache: LoadCache | undefined;
  afterEach(() => loadCache?.stop());

  /** `answer` is the response of Prometheus, which is queried hourly and by `begin`. */
  function fixture(answer: () => Promise<Series[]>, apis = 1, more: Series[] = []) {
    const state = { now: 0, leading: true, queries: 0 };
    loadCache = new LoadCache({
      prometheus: {
        query: async promql => {
          if (promql.includes('label_replace')) return [...facts(apis), ...more];
          state.queries++;
          return await answer();
        },
      },
      namespaces: [],
      intervalMs: HOUR_MS,
      isLeading: () => state.leading,
      log: silentLog,
      metrics: createMetrics({ processDefaults: false }),
      onRefreshed: () => {},
      clock: () => state.now,
    });
    return { loadCache, state };
  }

  it('counts a process once if two jobs scrape it', async () => {
    const { loadCache } = fixture(
      async () => [
        ...['pods', 'again'].flatMap(job => [
          series('pressroom_queue_depth', 'api-1', 3, job),
          series('pressroom_slots', 'w-1', 2, job),
        ]),
        series('pressroom_queue_depth', 'api-2', 4),
        series('pressroom_slots', 'w-2', 1),
      ],
      2,
    );
    await loadCache.start();
    await eventually(() =>
      expect(loadCache.of('press', 'main')).to.include({
        queuedRenders: 7,
        busySlots: 3,
        partial: false,
      }),
    );
  });

  it('contains the run time of renders and the age of the newest sample', async () => {
    const running = (pod: string, seconds: number) =>
      series('pressroom_slots_running_seconds', pod, seconds);
    const { loadCache } = fixture(async () => [
      series('pressroom_queue_depth', 'api-1', 3),
      running('w-1', 2.5),
      running('w-2', 4),
    ]);
    await loadCache.start();
    const expected = { queuedRenders: 3, busySlots: 0, runningMs: 6_500, sampleAgeMs: 1_000 };
    await eventually(() => expect(loadCache.of('press', 'main')).to.include(expected));
  });

  it('contains the asynchronous backlog once, since each process reports the same', async () => {
    const { loadCache } = fixture(
      async () => [
        series('pressroom_queue_depth', 'api-1', 3),
        series('pressroom_queue_depth', 'api-2', 4),
        series('pressroom_async_backlog', 'api-1', 5),
        series('pressroom_async_backlog', 'api-2', 6),
        series('pressroom_async_oldest_wait_seconds', 'api-2', 20),
        series('pressroom_queue_oldest_wait_seconds', 'api-1', 2),
      ],
      2,
    );
    await loadCache.start();
    const expected = { queuedRenders: 13, oldestWaitMs: 2_000, partial: false };
    await eventually(() => expect(loadCache.of('press', 'main')).to.include(expected));
  });

  it('is partial if a process reports no number', async () => {
    const { loadCache } = fixture(
      async () => [
        series('pressroom_queue_depth', 'api-1', 3),
        series('pressroom_queue_depth', 'api-2', Number.NaN),
      ],
      2,
    );
    await loadCache.start();
    await eventually(() =>
      expect(loadCache.of('press', 'main')).to.include({ queuedRenders: 3, partial: true }),
    );
  });

  it('is partial if a ready pod is missing, even if deleted pods are included', () => {
    const load = {
      kind: 'measured',
      busySlots: 1,
      runningMs: 0,
      queuedRenders: 0,
      oldestWaitMs: 0,
      scrapeIntervalMs: 1_000,
      sampleAgeMs: 0,
      partial: false,
    } as const;
    const pods = { ready: 1, readyNames: ['new'], problem: undefined, sandbox: undefined };
    const partial = (...names: string[]) => {
      const observed = observe(undefined, pods, {
        ...load,
        busyByPod: new Map(names.map(name => [name, 0])),
        pageEnds: new Map(),
      }).load;
      return observed.kind === 'measured' && observed.partial;
    };
    expect(partial('gone', 'gone too')).to.equal(true);
    expect(partial('gone', 'new')).to.equal(false);
  });

  it('contains the recent slot ends caused by pages, by reason', async () => {
    const ends = {
      labels: { fact: 'page_ends', namespace: 'press', pool: 'main', reason: 'memory' },
      value: 2.1,
    };
    const { loadCache } = fixture(async () => [series('pressroom_queue_depth', 'api-1', 0)], 1, [
      ends,
    ]);
    await loadCache.start();
    await eventually(() =>
      expect([...loadCache.of('press', 'main').pageEnds]).to.deep.equal([['memory', 2.1]]),
    );
  });

  const timeout = (pod: string, seconds: number) =>
    series('pressroom_queue_timeout_seconds', pod, seconds);
  const depths = [
    series('pressroom_queue_depth', 'api-1', 0),
    timeout('api-1', 120),
    timeout('api-2', 30),
  ];
  for (const [seconds, slowScrape] of [
    [30, { intervalMs: 30_000, queueTimeoutMs: 30_000 }],
    [15, undefined],
    [16.4, undefined],
  ] as const)
    it(`${slowScrape ? 'reports' : 'does not report'} a slow scrape at an interval of ${seconds} s and a queue timeout of 30 s`, async () => {
      const { loadCache } = fixture(async () => depths, 1, [fact('scrape', seconds)]);
      await loadCache.start();
      await eventually(() =>
        expect(loadCache.of('press', 'main')).to.deep.include({ kind: 'measured', slowScrape }),
      );
    });

  it('does not report a slow scrape without samples of some minutes or without a queue timeout', async () => {
    const { loadCache } = fixture(async () => depths);
    await loadCache.start();
    await eventually(() =>
      expect(loadCache.of('press', 'main')).to.deep.include({
        kind: 'measured',
        slowScrape: undefined,
      }),
    );
    await loadCache.stop();
    const older = fixture(async () => depths.slice(0, 1), 1, [fact('scrape', 60)]).loadCache;
    await older.start();
    await eventually(() =>
      expect(older.of('press', 'main')).to.deep.include({
        kind: 'measured',
        slowScrape: undefined,
      }),
    );
  });

  it('is queried immediately by a new leader, and is not ready before the response', async () => {
    const first = Promise.withResolvers<Series[]>();
    const { loadCache, state } = fixture(() => first.promise);
    state.leading = false;
    await loadCache.start();
    expect(loadCache.begun()).to.equal(false);
    state.leading = true;
    loadCache.begin();
    await eventually(() => expect(state.queries).to.equal(1));
    expect(loadCache.begun()).to.equal(false);
    first.resolve([series('pressroom_queue_depth', 'api-1', 3)]);
    await eventually(() => expect(loadCache.begun()).to.equal(true));
    expect(loadCache.of('press', 'main')).to.include({ kind: 'measured', queuedRenders: 3 });
  });

  it('is queried again after a period without leadership', async () => {
    const { loadCache, state } = fixture(async () => [series('pressroom_queue_depth', 'api-1', 3)]);
    state.leading = false;
    await loadCache.start();
    state.leading = true;
    await eventually(() => expect(loadCache.begun()).to.equal(true));
    expect(loadCache.of('press', 'main')).to.include({ kind: 'measured' });
  });

  it('is unknown if Prometheus does not respond', async () => {
    const never = Promise.withResolvers<Series[]>();
    const { loadCache, state } = fixture(() => never.promise);
    await loadCache.start();
    loadCache.begin();
    state.now += 3_000;
    expect(loadCache.begun()).to.equal(true);
    expect(loadCache.of('press', 'main')).to.include({ kind: 'unknown', reason: 'unreachable' });
    never.resolve([]);
  });
});
