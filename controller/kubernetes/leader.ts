// Leader election on a Lease: of several controllers one acts. Clocks of machines are never compared, only how long this process saw the Lease unchanged.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Service } from '../../common/lifecycle.ts';
import type { Log } from '../../common/log.ts';
import { GROUP_VERSION_OF, type Kubernetes, type KubernetesObject, microTime } from './resources.ts';
import { hasStatus } from './transport.ts';

/** Others take over when the Lease was not renewed for so long. */
export const LEASE_MS = 15_000;
/** A leader that could not renew for so long stops acting: before anybody else may. */
export const RENEW_MS = 10_000;
const RETRY_MS = 2_000;

interface Lease extends KubernetesObject {
  spec?: { holderIdentity?: string; leaseDurationSeconds?: number; leaseTransitions?: number; renewTime?: string; acquireTime?: string };
}

export interface Leader extends Service {
  leading(): boolean;
  /** Throws NotLeader unless this process holds the Lease for certain at this moment. */
  assertLeading(): void;
}

export class NotLeader extends Error {
  override name = 'NotLeader';
}

interface Options {
  /** Its writes must not be guarded by `assertLeading`. */
  api: Kubernetes;
  namespace: string;
  name: string;
  /** Who this is: the pod's name and something of this process, since a pod's process may be restarted. */
  identity: string;
  log: Log;
  onChange(leading: boolean): void;
  /** Milliseconds that only grow. */
  clock?: () => number;
}

export function createLeader({ api, namespace, name, identity, log, onChange, clock = () => performance.now() }: Options): Leader {
  const ended = new AbortController();
  let running: Promise<void> | undefined;
  let told = false;
  /** When the last acknowledged renewal was sent; undefined when the Lease is not ours. */
  let renewedAt: number | undefined;
  /** The Lease as it was last seen to change, and when. */
  let seen: { version: string; at: number } | undefined;

  const leading = () => renewedAt !== undefined && clock() - renewedAt < RENEW_MS;

  function tell(): void {
    const now = leading();
    if (now === told) return;
    told = now;
    log.info({ identity, leading: now }, now ? 'this controller leads' : 'this controller does not lead any more');
    onChange(now);
  }

  // The metadata that was read is kept: Helm knows what it may delete and replace by its labels and annotations.
  const leaseOf = (spec: Lease['spec'], metadata: Partial<Lease['metadata']> = {}) => ({
    apiVersion: GROUP_VERSION_OF.leases,
    kind: 'Lease',
    metadata: { ...metadata, name, namespace },
    spec: { ...spec, leaseDurationSeconds: LEASE_MS / 1000 },
  });

  async function attempt(): Promise<void> {
    const sentAt = clock();
    const now = microTime();
    const lease = await api.get<Lease>('leases', namespace, name).catch(error => {
      if (hasStatus(error, 404)) return undefined;
      throw error;
    });
    if (!lease) {
      await api.create('leases', leaseOf({ holderIdentity: identity, acquireTime: now, renewTime: now, leaseTransitions: 0 }));
      renewedAt = sentAt;
      return;
    }
    const { resourceVersion } = lease.metadata;
    const { holderIdentity = '', leaseTransitions = 0 } = lease.spec ?? {};
    if (seen?.version !== resourceVersion) seen = { version: resourceVersion, at: clock() };
    const mine = holderIdentity === identity;
    const free = holderIdentity === '' || clock() - seen.at > (lease.spec?.leaseDurationSeconds ?? LEASE_MS / 1000) * 1000;
    if (!mine) {
      renewedAt = undefined;
      // Also when it is free by now and taken again at once: others may have led in between.
      tell();
    }
    if (!mine && !free) return;
    const spec = mine
      ? { ...lease.spec, renewTime: now }
      : { holderIdentity: identity, acquireTime: now, renewTime: now, leaseTransitions: leaseTransitions + 1 };
    // With the version that was read: of two that find it free, one is refused.
    await api.update('leases', leaseOf(spec, lease.metadata));
    renewedAt = sentAt;
  }

  async function run(): Promise<void> {
    let failing = false;
    while (!ended.signal.aborted) {
      try {
        await attempt();
        failing = false;
      } catch (error) {
        // A conflict is another one's success.
        if (!hasStatus(error, 409) && !failing)
          log.warn({ err: error }, 'the Lease of the leader could not be read or written; trying again');
        failing = !hasStatus(error, 409);
      }
      tell();
      await sleep(RETRY_MS, undefined, { signal: ended.signal }).catch(() => {});
    }
  }

  /** So that the next one need not wait for the Lease to expire. */
  async function giveUp(): Promise<void> {
    if (!leading()) return;
    const lease = await api.get<Lease>('leases', namespace, name);
    if (lease.spec?.holderIdentity !== identity) return;
    await api.update('leases', leaseOf({ ...lease.spec, holderIdentity: '', renewTime: microTime() }, lease.metadata));
  }

  return {
    name: 'leader election',
    leading,
    assertLeading() {
      if (!leading()) throw new NotLeader('this controller does not lead');
    },
    start: async () => {
      running = run();
    },
    stop: async () => {
      ended.abort();
      await running;
      await giveUp().catch(error => log.warn({ err: error }, 'the Lease of the leader could not be given up'));
      renewedAt = undefined;
      tell();
    },
  };
}
