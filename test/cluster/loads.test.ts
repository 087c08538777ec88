import { expect } from 'chai';
import { silentLog } from '../../common/log.ts';
import { createMetrics } from '../../common/operations.ts';
import { LoadCache, type PoolLoad } from '../../controller/load/load-cache.ts';
import { createPrometheus } from '../../controller/load/prometheus.ts';
import { ownPort } from '../fault/harness/ports.ts';
import { eventually } from '../support/eventually.ts';
import { skip } from '../support/skip.ts';
import { startMetricsTarget } from './metrics-target.ts';
import { type Prometheus, startPrometheus, type Target } from './prometheus.ts';
import { prometheusBinaries } from './prometheus-binaries.ts';

const INTERVAL_MS = 1_000;
const SLOW_MS = 90_000;

/** A process that serves the last text set with `serve` on /metrics. */
async function fakeProcess() {
  let text = '';
  const target = await startMetricsTarget(() => text);
  return {
    ...target,
    serve: (next: string) => {
      text = next;
    },
  };
}
type Process = Awaited<ReturnType<typeof fakeProcess>>;

const api = (pool: string, depth: number, oldestS = 0) =>
  `pressroom_queue_depth{pool="${pool}"} ${depth}\npressroom_queue_oldest_wait_seconds{pool="${pool}"} ${oldestS}\n`;
const worker = (pool: string, claimed: number) =>
  `pressroom_slots{pool="${pool}",state="claimed"} ${claimed}\npressroom_slots{pool="${pool}",state="ready"} ${4 - claimed}\npressroom_slots_capacity{pool="${pool}"} 4\n`;

describe('load read from a real Prometheus', function () {
  this.timeout(2 * SLOW_MS);
  let prometheus: Prometheus | undefined;
  let loadCache: LoadCache | undefined;
  const processes: Process[] = [];
  const named: Record<string, Process> = {};

  before(async function () {
    this.timeout(10 * SLOW_MS);
    const binaries = await prometheusBinaries(console.log);
    if (!binaries) skip(this, 'Prometheus is not installed and could not be downloaded');
    const targets: Target[] = [];
    for (const [name, namespace] of [
      ['api-1', 'press'],
      ['api-2', 'press'],
      ['worker-1', 'press'],
      ['worker-2', 'press'],
      ['elsewhere', 'other'],
    ] as const) {
      const each = await fakeProcess();
      processes.push(each);
      named[name] = each;
      targets.push({ address: each.address, labels: { namespace, pod: name, job: 'pods' } });
    }
    prometheus = await startPrometheus({ binaries, targets, intervalS: 1 });
    loadCache = loadCacheOf(prometheus.url, ['press']);
    await loadCache.start();
  });
  after(async () => {
    await loadCache?.stop();
    for (const each of processes) each.close();
    await prometheus?.stop();
  });

  function loadCacheOf(url: string, namespaces: string[]) {
    const metrics = createMetrics({ processDefaults: false });
    return new LoadCache({
      prometheus: createPrometheus({ url, token: undefined, timeoutMs: 1_000 }, metrics),
      namespaces,
      intervalMs: INTERVAL_MS,
      isLeading: () => true,
      log: silentLog,
      metrics,
      onRefreshed: () => {},
    });
  }
  const until = (check: (load: PoolLoad) => void, pool = 'main') =>
    eventually(() => check(loadCache!.of('press', pool)), SLOW_MS);

  it('is unknown with a reason while no API of the pool is scraped', async () => {
    await until(load => {
      expect(load).to.include({ kind: 'unknown', reason: 'no_data' });
      expect(load.kind === 'unknown' && load.message).to.include(
        'pressroom_queue_depth for pool main in namespace press',
      );
    });
  });

  it('is the sum over all processes of the pool in its namespace only', async () => {
    named['api-1']!.serve(api('main', 3, 1.5) + api('second', 9));
    named['api-2']!.serve(api('main', 4, 7));
    named['worker-1']!.serve(worker('main', 2));
    named['worker-2']!.serve(worker('main', 0));
    named.elsewhere!.serve(api('main', 100) + worker('main', 50));
    await until(load => {
      expect(load).to.include({
        kind: 'measured',
        queuedRenders: 7,
        busySlots: 2,
        oldestWaitMs: 7_000,
        partial: false,
      });
      expect([...load.busyByPod].sort()).to.deep.equal([
        ['worker-1', 2],
        ['worker-2', 0],
      ]);
    });
    await until(
      load => expect(load).to.include({ kind: 'measured', queuedRenders: 9, busySlots: 0 }),
      'second',
    );
  });

  it('contains the asynchronous backlog once, if processes report it', async () => {
    const backlog = (count: number) => `pressroom_async_backlog{pool="main"} ${count}\n`;
    named['api-1']!.serve(api('main', 3, 1.5) + api('second', 9) + backlog(5));
    named['api-2']!.serve(api('main', 4, 7) + backlog(6));
    await until(load => expect(load).to.include({ kind: 'measured', queuedRenders: 13 }));
    named['api-1']!.serve(api('main', 3, 1.5) + api('second', 9));
    named['api-2']!.serve(api('main', 4, 7));
    await until(load => expect(load).to.include({ kind: 'measured', queuedRenders: 7 }));
  });

  it('contains slot ends caused by pages, by reason', async () => {
    const ended = (reason: string, count: number) =>
      `pressroom_slot_ends_total{pool="main",reason="${reason}"} ${count}\n`;
    const serve = (memory: number) =>
      named['worker-1']!.serve(
        worker('main', 2) +
          ended('memory', memory) +
          ended('flooded', 4) +
          ended('worker_stopping', memory),
      );
    serve(0);
    await eventually(
      async () => expect(await prometheus!.query('pressroom_slot_ends_total')).to.have.length(3),
      SLOW_MS,
    );
    serve(3);
    await until(({ pageEnds }) => {
      expect([...pageEnds.keys()]).to.deep.equal(['memory']);
      expect(pageEnds.get('memory')).to.be.greaterThan(0);
    });
  });

  it('contains the scrape interval, never too short', async () => {
    // Derived from the samples of one minute, which are too few at first.
    await until(load =>
      expect(load.kind === 'measured' && load.scrapeIntervalMs).to.be.within(900, 20_000),
    );
  });

  it('is partial while a known API does not respond', async () => {
    named['api-2']!.serve('');
    await until(load =>
      expect(load).to.include({ kind: 'measured', queuedRenders: 3, partial: true }),
    );
    named['api-2']!.serve(api('main', 4, 7));
    await until(load =>
      expect(load).to.include({ kind: 'measured', queuedRenders: 7, partial: false }),
    );
  });

  it('is unknown while Prometheus is frozen, and known again afterwards', async () => {
    await prometheus!.freeze();
    try {
      await until(load => {
        expect(load).to.include({ kind: 'unknown', reason: 'unreachable' });
        expect(load.kind === 'unknown' && load.message).to.include(
          'did not respond within 1000 ms',
        );
      });
    } finally {
      prometheus!.thaw();
    }
    await until(load => expect(load).to.include({ kind: 'measured', queuedRenders: 7 }));
  });

  it('is unknown with a reason if Prometheus is unreachable', async () => {
    const port = await ownPort();
    const unreachable = loadCacheOf(`http://127.0.0.1:${port}`, []);
    await unreachable.start();
    try {
      await eventually(() => {
        const load = unreachable.of('press', 'main');
        expect(load.kind === 'unknown' && load.message).to.equal(
          `Cannot connect to Prometheus at http://127.0.0.1:${port} (ECONNREFUSED)`,
        );
      });
    } finally {
      await unreachable.stop();
    }
  });
});
