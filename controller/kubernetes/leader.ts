// Leader election with a Lease, which the controller creates. Clocks of different machines are never
// compared: the Lease expires if this process has seen no change of it for its duration.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Service } from '../../common/lifecycle.ts';
import type { Log } from '../../common/log.ts';
import {
  GROUP_VERSION_OF,
  type Kubernetes,
  type KubernetesObject,
  microTime,
} from './resources.ts';
import { hasStatus, ignoreNotFound } from './transport.ts';

/** Another controller may take over if the Lease was not renewed for this time. */
export const LEASE_MS = 15_000;
/** A leader that could not renew for this time stops, before another one may take over. */
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
  /** Must not check `assertLeading` before writes. */
  api: Kubernetes;
  namespace: string;
  name: string;
  /** The pod name and a random part, because the process in a pod may be restarted. */
  identity: string;
  log: Log;
  onChange(leading: boolean): void;
  /** Whether a controller has led before, although this process has never seen a Lease. */
  hasLed(): Promise<boolean>;
  /** Monotonic, in milliseconds. */
  clock?: () => number;
}

type Owners = KubernetesObject['metadata']['ownerReferences'];

/** Keeps existing metadata, such as the labels that other tools set. */
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
  /** The last argument of `onChange`. */
  #notified = false;
  /** When the last acknowledged renewal was sent; undefined if another process holds the Lease. */
  #renewedAt: number | undefined;
  /** The last seen version of the Lease, and when it was first seen. */
  #seen: { version: string; at: number } | undefined;
  /** When the Lease was first found missing. */
  #missingSince: number | undefined;
  /**
   * The owners of the last seen Lease. A Lease that is recreated while its Deployment is deleted
   * has the same owner, so it is deleted too.
   */
  #owners: Owners;

  constructor(options: Options) {
    this.#options = options;
    this.#clock = options.clock ?? (() => performance.now());
  }

  leading(): boolean {
    return this.#renewedAt !== undefined && this.#clock() - this.#renewedAt < RENEW_MS;
  }

  /** Throws NotLeader unless this process certainly holds the Lease. */
  assertLeading(): void {
    if (!this.leading()) throw new NotLeader('this controller is not the leader');
  }

  async start(): Promise<void> {
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#ended.abort();
    await this.#running;
    await this.#release().catch(error =>
      this.#options.log.warn({ err: error }, 'could not release the leader election Lease'),
    );
    this.#renewedAt = undefined;
    this.#notify();
  }

  #notify(): void {
    const { identity, log, onChange } = this.#options;
    const now = this.leading();
    if (now === this.#notified) return;
    this.#notified = now;
    log.info({ identity, leading: now }, now ? 'became the leader' : 'lost leadership');
    onChange(now);
  }

  async #run(): Promise<void> {
    let failing = false;
    while (!this.#ended.signal.aborted) {
      try {
        await this.#attempt();
        failing = false;
      } catch (error) {
        // A conflict means that another controller has written the Lease.
        if (!hasStatus(error, 409) && !failing)
          this.#options.log.warn(
            { err: error },
            'could not read or write the leader election Lease; retrying',
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
    const acquired = (transitions: number) => ({
      holderIdentity: identity,
      acquireTime: now,
      renewTime: now,
      leaseTransitions: transitions,
    });
    const lease = await api.get<Lease>('leases', namespace, name).catch(ignoreNotFound);
    if (!lease) {
      // Also if leadership has expired and is acquired below, as for an existing Lease.
      this.#notify();
      if (!(await this.#mayCreate())) return;
      const spec = acquired(0);
      this.#owners ??= await this.#findOwners();
      const metadata = this.#owners && { ownerReferences: this.#owners };
      await api.create('leases', leaseOf(namespace, name, spec, metadata));
      this.#renewedAt = sentAt;
      return;
    }
    this.#missingSince = undefined;
    this.#owners = lease.metadata.ownerReferences;
    const { holderIdentity = '', leaseTransitions = 0 } = lease.spec ?? {};
    const isFree = this.#isFree(lease);
    const mine = holderIdentity === identity;
    if (!mine) {
      this.#renewedAt = undefined;
      // Also if it has expired and is acquired below: another controller may have led in between.
      this.#notify();
    }
    if (!mine && !isFree) return;
    const spec = mine ? { ...lease.spec, renewTime: now } : acquired(leaseTransitions + 1);
    // With the resourceVersion: if two controllers find it expired, one update is rejected.
    await api.update('leases', leaseOf(namespace, name, spec, lease.metadata));
    this.#renewedAt = sentAt;
  }

  /**
   * Another client may delete the Lease of a running leader, as an upgrade from a chart with the
   * Lease among its templates does. The leader recreates it immediately. Other processes wait until
   * such a leader would have stopped, except in a new installation.
   */
  async #mayCreate(): Promise<boolean> {
    if (this.leading()) return true;
    this.#missingSince ??= this.#clock();
    if (this.#clock() - this.#missingSince > LEASE_MS) return true;
    return this.#seen === undefined && !(await this.#options.hasLed());
  }

  /**
   * The Deployment with the name of the Lease, as in the chart, so that the Lease is deleted with
   * it. Without `blockOwnerDeletion`, which would require another permission. Without a Deployment,
   * or without the permission to read it, the Lease has no owner.
   */
  async #findOwners(): Promise<Owners> {
    const { api, namespace, name, log } = this.#options;
    try {
      const { metadata } = await api.get('deployments', namespace, name);
      return [
        { apiVersion: GROUP_VERSION_OF.deployments, kind: 'Deployment', name, uid: metadata.uid },
      ];
    } catch (error) {
      if (!hasStatus(error, 404))
        log.warn({ err: error }, 'could not read the owner of the leader election Lease');
      return undefined;
    }
  }

  /** Whether it has no holder, or has not changed for its duration by the clock of this process. */
  #isFree({ metadata: { resourceVersion }, spec }: Lease): boolean {
    if (this.#seen?.version !== resourceVersion)
      this.#seen = { version: resourceVersion, at: this.#clock() };
    const lastsMs = (spec?.leaseDurationSeconds ?? LEASE_MS / 1000) * 1000;
    return (spec?.holderIdentity ?? '') === '' || this.#clock() - this.#seen.at > lastsMs;
  }

  /** Releases the Lease, so that the next leader does not have to wait until it expires. */
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
