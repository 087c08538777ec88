// Wires a worker: Chrome, its slots, the guard of each and the gateway. Returns the services in the order in which they start.
import type { Service } from '../common/lifecycle.ts';
import type { Log } from '../common/log.ts';
import type { Metrics } from '../common/operations.ts';
import { PROTOCOL, type WorkerStatus } from '../common/protocol.ts';
import { type Chrome, launchChrome } from './chrome.ts';
import type { WorkerConfig } from './config.ts';
import { openGuard } from './egress/proxy.ts';
import { findChrome } from './find-chrome.ts';
import { createGateway } from './gateway/gateway.ts';
import { createMemoryWatchdog } from './memory.ts';
import { sweepProfiles } from './profile.ts';
import { createSlots, type SlotState } from './slots.ts';
import { createSupervisor } from './supervisor.ts';

const WATCHDOG_MS = 250;

export interface Worker {
  services: Service[];
  status(): WorkerStatus;
  /** The Chromes that run now, the retiring ones too. */
  chromes(): Chrome[];
  /** The gateway's port, once started. */
  port(): number;
}

/** Stopping the gateway drains: no new slot, the running ones finish. */
export function createWorker(config: WorkerConfig & { secret: string }, log: Log, metrics: Metrics): Worker {
  const status = (): WorkerStatus => ({
    protocol: PROTOCOL,
    pool: config.pool,
    capacity: config.capacity,
    ready: Math.max(0, Math.min(slots.count('ready'), config.capacity - slots.count('claimed'))),
    busy: slots.count('claimed'),
    draining: slots.draining(),
    chrome: supervisor.state(),
    chromeVersion: supervisor.version(),
  });
  const onChange = () => gateway.push();
  const supervisor = createSupervisor({
    config: config.supervisor,
    launch: async giveUp => launchChrome({ ...config.chrome, executable: findChrome(config.chrome.executable) }, log, giveUp),
    slots: () => slots,
    log,
    metrics,
    onChange,
  });
  const slots = createSlots({
    capacity: config.capacity,
    spare: Math.max(1, Math.floor(config.capacity / 2)),
    openGuard: () => openGuard(config.egress, log),
    log,
    onChange,
    onClosed: supervisor.onClosed,
    onBroken: supervisor.onBroken,
  });
  const watchdog = createMemoryWatchdog({
    maxBytes: config.renderMaxBytes,
    maxBrowserBytes: config.supervisor.recycleBytes + config.renderMaxBytes,
    intervalMs: WATCHDOG_MS,
    watched: () => [...new Set(slots.claimed().map(slot => slot.chrome))],
    onOutgrown: supervisor.onOutgrown,
    log,
  });
  const gateway = createGateway({
    config: config.gateway,
    pool: config.pool,
    secret: config.secret,
    slots,
    watchdog,
    status,
    log,
    metrics,
  });
  metrics.gauge('pressroom_slots', 'Slots by state.', ['pool', 'state'], gauge => {
    for (const state of ['warming', 'ready', 'claimed', 'closing'] satisfies SlotState[])
      gauge.set({ pool: config.pool, state }, slots.count(state));
  });
  metrics
    .gauge('pressroom_slots_capacity', 'Renders at once that this worker takes.', ['pool'])
    .set({ pool: config.pool }, config.capacity);
  metrics.gauge('pressroom_worker_draining', 'Whether this worker takes no new render because it stops: 1 or 0.', ['pool'], gauge =>
    gauge.set({ pool: config.pool }, slots.draining() ? 1 : 0),
  );
  const profiles: Service = { name: 'chrome profiles', start: () => sweepProfiles(), stop: async () => {} };
  return { services: [profiles, supervisor, watchdog, gateway], status, chromes: supervisor.running, port: gateway.port };
}
