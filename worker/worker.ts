// Wires a worker: slots with their Chromes and egress guards, and the gateway. Returns the services
// in start order.
import type { Service } from '../common/lifecycle.ts';
import type { Log } from '../common/log.ts';
import { type Metrics, RELEASE } from '../common/operations.ts';
import { PROTOCOL, type WorkerStatus } from '../common/protocol.ts';
import { launchChrome } from './browser/chrome.ts';
import { findChrome } from './browser/find-chrome.ts';
import { sweepProfiles } from './browser/profile.ts';
import { SlotPool } from './browser/slot-pool.ts';
import type { WorkerConfig } from './config.ts';
import { openEgressProxy } from './egress/proxy.ts';
import { Gateway } from './gateway/gateway.ts';

/** Stopping the gateway drains: no new slot, the running ones finish. */
export function createWorker(
  config: WorkerConfig & { secret: string },
  log: Log,
  metrics: Metrics,
) {
  const slots = new SlotPool({
    pool: config.pool,
    capacity: config.capacity,
    chromePerAccount: config.chromePerAccount,
    limits: config.limits,
    launch: async (signal, slotLog) =>
      launchChrome(
        { ...config.chrome, executable: findChrome(config.chrome.executable) },
        slotLog,
        signal,
      ),
    openGuard: () => openEgressProxy(config.egress, log),
    log,
    metrics,
    onChange: () => gateway.push(),
  });
  const status = (): WorkerStatus => ({
    protocol: PROTOCOL,
    pool: config.pool,
    release: RELEASE,
    sandbox: config.chrome.sandbox,
    ...slots.status(),
  });
  const gateway = new Gateway({
    config: config.gateway,
    pool: config.pool,
    secret: config.secret,
    slots,
    status,
    log,
    metrics,
  });
  metrics.gauge(
    'pressroom_worker_draining',
    'Whether this worker is draining and accepts no new render: 1 or 0.',
    ['pool'],
    gauge => gauge.set({ pool: config.pool }, status().draining ? 1 : 0),
  );
  const profiles: Service = {
    name: 'chrome profiles',
    start: () => sweepProfiles(),
    stop: async () => {},
  };
  return {
    services: [profiles, slots, gateway],
    status,
    /** The Chromes in service, at most one per slot. */
    chromes: () => slots.chromes(),
    /** The gateway's port, once started. */
    port: () => gateway.port(),
  };
}
export type Worker = ReturnType<typeof createWorker>;
