// A pool without Chrome in the test's process: real gateways over slots that need no browser, and
// API processes with their own queues. A render takes as long as its work holds the slot.
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
  /** Its slots become ready; until then it has none. */
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
      onRefused: () => {},
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
  /**
   * A render that holds its slot while `work` runs. Resolves with the ms that it waited for the
   * slot.
   */
  render(accountId: string, work: () => Promise<unknown>, more?: Partial<Job>): Promise<number>;
  /** Claims so far, by how they ended. */
  claims(outcome: 'opened' | 'refused'): Promise<number>;
  stop(): Promise<void>;
}

/** `reach`: where to connect to for a worker's address. */
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
  const known = Promise.withResolvers<void>();
  workers.registry.onChange(
    () => workers.registry.totals().workers === addresses.length && known.resolve(),
  );
  await workers.start();
  await known.promise;
  return {
    dispatch,
    workers,
    render: async (accountId, work, more = {}) => {
      const fixed = {
        accountId,
        trial: false,
        bytes: 1,
        renderId: 'render',
        egress: 'public' as const,
        maxMs: 60_000,
      };
      const cameMs = performance.now();
      let waitedMs = 0;
      const signal = AbortSignal.timeout(60_000);
      await dispatch.dispatch({ ...fixed, signal, ...more }, () => {
        waitedMs = performance.now() - cameMs;
        return work();
      });
      return waitedMs;
    },
    claims: async outcome => {
      const line = new RegExp(`^pressroom_slot_claims_total\\{.*"${outcome}".*\\} (\\d+)$`, 'm');
      return Number(line.exec(await metrics.text())?.[1]);
    },
    stop: async () => {
      await workers.stop();
      await connections.stop(AbortSignal.timeout(1_000));
    },
  };
}
