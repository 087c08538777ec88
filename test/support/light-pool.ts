// A pool without Chrome in the process of the test: real gateways with stubbed slots, and API
// processes with their own queues. A render holds its slot while its `work` runs.
import { Dispatcher, type Job } from '../../api/queue/dispatcher.ts';
import { createConnections } from '../../api/workers/connections.ts';
import { openSession, type Session } from '../../api/workers/session.ts';
import { Workers } from '../../api/workers/workers.ts';
import { silentLog } from '../../common/log.ts';
import { createMetrics } from '../../common/operations.ts';
import type { SlotPage } from '../../worker/browser/slot-page.ts';
import type { SlotPool } from '../../worker/browser/slot-pool.ts';
import { Gateway } from '../../worker/gateway/gateway.ts';
import { workerStatus } from './fake-slots.ts';

export const LIGHT_SECRET = 'a secret of the light pool';
const at = { pool: 'default', secret: LIGHT_SECRET, log: silentLog };

export interface LightWorker {
  readonly address: string;
  readonly port: number;
  /** Makes its slots ready. Until then it has none. */
  join(): void;
  busy(): number;
  stop(): Promise<void>;
}

export async function startLightWorker(capacity: number): Promise<LightWorker> {
  const claimed = new Set<SlotPage>();
  let hasJoined = false;
  let gateway: Gateway;
  const ready = () => (hasJoined ? capacity - claimed.size : 0);
  const claim = () => {
    if (ready() === 0) return undefined;
    const guard = {
      port: 1,
      admit: () => {},
      onDenied: () => {},
      onUnreachable: () => {},
      close: async () => {},
    };
    const pipe = { route: () => {}, forward: () => {}, command: async () => ({}) };
    const parts = {
      slot: 1,
      pipe,
      guard,
      sessionId: 'S',
      frameId: 'F',
      claimed: true,
      onEnd: undefined,
    };
    const page = parts as unknown as SlotPage;
    claimed.add(page);
    return page;
  };
  const release = async (page: SlotPage) => {
    if (!claimed.delete(page)) return;
    page.claimed = false;
    gateway.push();
  };
  const slots = { claim, release, drain: async () => {}, endRenders: () => {} };
  gateway = new Gateway({
    ...at,
    config: { host: '127.0.0.1', port: 0 },
    slots: slots as unknown as SlotPool,
    status: () => workerStatus(ready(), { busy: claimed.size, more: { capacity } }),
    metrics: createMetrics({ processDefaults: false }),
  });
  await gateway.start();
  const port = gateway.port();
  return {
    address: `ws://127.0.0.1:${port}`,
    port,
    join: () => {
      hasJoined = true;
      gateway.push();
    },
    busy: () => claimed.size,
    stop: () => gateway.stop(AbortSignal.abort()),
  };
}

export interface LightApi {
  readonly dispatch: Dispatcher<Session>;
  readonly workers: Workers;
  /** Runs a render that holds its slot while `work` runs. Resolves with its queue time in ms. */
  render(accountId: string, work: () => Promise<unknown>, more?: Partial<Job>): Promise<number>;
  /** Number of attempts to open a slot, by outcome. */
  attempts(outcome: 'opened' | 'refused'): Promise<number>;
  stop(): Promise<void>;
}

/** `reach` maps the address of a worker to the URL to connect to. */
export async function startLightApi(
  addresses: readonly string[],
  reach = (address: string) => address,
): Promise<LightApi> {
  const sources = addresses.map(address => ({ kind: 'address' as const, address }));
  const workers = new Workers({ ...at, sources, reach });
  const connections = createConnections({ reach });
  const metrics = createMetrics({ processDefaults: false });
  const queue = {
    maxLength: 10_000,
    maxBytes: 2 ** 28,
    waitMs: 60_000,
    waitWithoutWorkersMs: 60_000,
  };
  const dispatch = new Dispatcher<Session>({
    ...at,
    queue,
    workers: workers.registry,
    openSlot: openSession(connections),
    metrics,
  });
  const connected = Promise.withResolvers<void>();
  workers.registry.onChange(
    () => workers.registry.totals().workers === addresses.length && connected.resolve(),
  );
  await workers.start();
  await connected.promise;
  return {
    dispatch,
    workers,
    render: async (accountId, work, more = {}) => {
      const defaults = {
        accountId,
        trial: false,
        bytes: 1,
        renderId: 'render',
        egress: 'public' as const,
        maxMs: 60_000,
      };
      const queuedAtMs = performance.now();
      let waitedMs = 0;
      const signal = AbortSignal.timeout(60_000);
      await dispatch.dispatch({ ...defaults, signal, ...more }, () => {
        waitedMs = performance.now() - queuedAtMs;
        return work();
      });
      return waitedMs;
    },
    attempts: async outcome => {
      const line = new RegExp(`^pressroom_slot_claims_total\\{.*"${outcome}".*\\} (\\d+)$`, 'm');
      return Number(line.exec(await metrics.text())?.[1]);
    },
    stop: async () => {
      await workers.stop();
      await connections.stop(AbortSignal.timeout(1_000));
    },
  };
}
