// Leader election on a Lease: of several controllers one acts. Clocks of machines are never
// compared, only how long this process saw the Lease unchanged.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Service } from '../../common/lifecycle.ts';
import type { Log } from '../../common/log.ts';
import {
  GROUP_VERSION_OF,
  type Kubernetes,
  type KubernetesObject,
  microTime,
} from './resources.ts';
import { hasStatus } from './transport.ts';

/** Others take over when the Lease was not renewed for so long. */
export const LEASE_MS = 15_000;
/** A leader that could not renew for so long stops acting: before another one may. */
export const RENEW_MS = 10_000;
const RETRY_MS = 2_000;

interface Lease extends KubernetesObject {
  spec?: {
    holderIdentity?: string;
    leaseDurationSeconds?: number;
    leaseTransitions?: number;
    renewTime?: string;
    acquireTime?: string;
  };
}

export class NotLeader extends Error {
  override name = 'NotLeader';
}

interface Options {
  /** Its writes must not be guarded by `assertLeading`. */
  api: Kubernetes;
  namespace: string;
  name: string;
  /** The pod's name and a random part, since a pod's process may be restarted. */
  identity: string;
  log: Log;
  onChange(leading: boolean): void;
  /** Monotonic, in milliseconds. */
  clock?: () => number;
}

/**
 * The metadata that was read is kept: Helm knows by its labels and annotations what it may delete
 * and replace.
 */
const leaseOf = (
  namespace: string,
  name: string,
  spec: Lease['spec'],
  metadata: Partial<Lease['metadata']> = {},
) => ({
  apiVersion: GROUP_VERSION_OF.leases,
  kind: 'Lease',
  metadata: { ...metadata, name, namespace },
  spec: { ...spec, leaseDurationSeconds: LEASE_MS / 1000 },
});

export class Leader implements Service {
  readonly name = 'leader election';
  readonly #options: Options;
  readonly #clock: () => number;
  readonly #ended = new AbortController();
  #running: Promise<void> | undefined;
  /** What `onChange` was called with last. */
  #notified = false;
  /**
   * When the last acknowledged renewal was sent; undefined when another process holds the Lease.
   */
  #renewedAt: number | undefined;
  /** The Lease as it was last seen to change, and when. */
  #seen: { version: string; at: number } | undefined;

  constructor(options: Options) {
    this.#options = options;
    this.#clock = options.clock ?? (() => performance.now());
  }

  leading(): boolean {
    return this.#renewedAt !== undefined && this.#clock() - this.#renewedAt < RENEW_MS;
  }

  /** Throws NotLeader unless this process holds the Lease for certain at this moment. */
  assertLeading(): void {
    if (!this.leading()) throw new NotLeader('this controller does not lead');
  }

  async start(): Promise<void> {
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#ended.abort();
    await this.#running;
    await this.#release().catch(error =>
      this.#options.log.warn({ err: error }, 'the Lease of the leader could not be released'),
    );
    this.#renewedAt = undefined;
    this.#notify();
  }

  #notify(): void {
    const { identity, log, onChange } = this.#options;
    const now = this.leading();
    if (now === this.#notified) return;
    this.#notified = now;
    log.info(
      { identity, leading: now },
      now ? 'this controller leads' : 'this controller does not lead any more',
    );
    onChange(now);
  }

  async #run(): Promise<void> {
    let failing = false;
    while (!this.#ended.signal.aborted) {
      try {
        await this.#attempt();
        failing = false;
      } catch (error) {
        // A conflict means that another one has renewed or taken the Lease.
        if (!hasStatus(error, 409) && !failing)
          this.#options.log.warn(
            { err: error },
            'the Lease of the leader could not be read or written; trying again',
          );
        failing = !hasStatus(error, 409);
      }
      this.#notify();
      await sleep(RETRY_MS, undefined, { signal: this.#ended.signal }).catch(() => {});
    }
  }

  async #attempt(): Promise<void> {
    const { api, namespace, name, identity } = this.#options;
    const sentAt = this.#clock();
    const now = microTime();
    const lease = await api.get<Lease>('leases', namespace, name).catch(error => {
      if (hasStatus(error, 404)) return undefined;
      throw error;
    });
    if (!lease) {
      const spec = {
        holderIdentity: identity,
        acquireTime: now,
        renewTime: now,
        leaseTransitions: 0,
      };
      await api.create('leases', leaseOf(namespace, name, spec));
      this.#renewedAt = sentAt;
      return;
    }
    const { holderIdentity = '', leaseTransitions = 0 } = lease.spec ?? {};
    const isFree = this.#isFree(lease);
    const mine = holderIdentity === identity;
    if (!mine) {
      this.#renewedAt = undefined;
      // Also when it is free by now and taken again at once: others may have led in between.
      this.#notify();
    }
    if (!mine && !isFree) return;
    const spec = mine
      ? { ...lease.spec, renewTime: now }
      : {
          holderIdentity: identity,
          acquireTime: now,
          renewTime: now,
          leaseTransitions: leaseTransitions + 1,
        };
    // With the version that was read: of two that find it free, one is refused.
    await api.update('leases', leaseOf(namespace, name, spec, lease.metadata));
    this.#renewedAt = sentAt;
  }

  /** Without a holder, or not renewed for as long as it lasts, by this process's clock. */
  #isFree({ metadata: { resourceVersion }, spec }: Lease): boolean {
    if (this.#seen?.version !== resourceVersion)
      this.#seen = { version: resourceVersion, at: this.#clock() };
    const lastsMs = (spec?.leaseDurationSeconds ?? LEASE_MS / 1000) * 1000;
    return (spec?.holderIdentity ?? '') === '' || this.#clock() - this.#seen.at > lastsMs;
  }

  /** So that the next leader need not wait for the Lease to expire. */
  async #release(): Promise<void> {
    const { api, namespace, name, identity } = this.#options;
    if (!this.leading()) return;
    const lease = await api.get<Lease>('leases', namespace, name);
    if (lease.spec?.holderIdentity !== identity) return;
    await api.update(
      'leases',
      leaseOf(
        namespace,
        name,
        { ...lease.spec, holderIdentity: '', renewTime: microTime() },
        lease.metadata,
      ),
    );
  }
}
