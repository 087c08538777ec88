// The workers of this process's pool: finds them by list or by name, keeps a status link to each,
// and feeds the registry. A lifecycle service.
import type { Service } from '../../common/lifecycle.ts';
import type { Log } from '../../common/log.ts';
import { SILENCE_MS, WAITING, type WorkerStatus } from '../../common/protocol.ts';
import { signTicket } from '../../common/ticket.ts';
import { WorkerRegistry } from './registry.ts';
import { createStatusLink, readStatus, type StatusLink, unusableBecause } from './status-link.ts';
import { type Resolve, systemResolve, type WorkerSource, watchName } from './worker-addresses.ts';

/** Pods come and go within seconds; a headless Service's records live for 5 s in most clusters. */
const LOOK_UP_MS = 2_000;

const DEFAULTS = {
  reach: (address: string) => address,
  resolve: systemResolve,
  lookUpMs: LOOK_UP_MS,
  silenceMs: SILENCE_MS,
  random: Math.random,
};

export interface WorkersOptions {
  sources: readonly WorkerSource[];
  /** Workers of another pool are not used. */
  pool: string;
  /** Signs the tickets. */
  secret: string;
  log: Log;
  /** Where to connect to for a worker's address (default: there). */
  reach?: (address: string) => string;
  resolve?: Resolve;
  lookUpMs?: number;
  silenceMs?: number;
  random?: () => number;
}

/** The rest of the process reads the workers from `registry`. */
export class Workers implements Service {
  readonly name = 'workers';
  readonly registry: WorkerRegistry;
  readonly #options: Required<WorkersOptions>;
  readonly #links = new Map<string, StatusLink>();
  /** Addresses by the source that names them. */
  readonly #named = new Map<WorkerSource, Set<string>>();
  readonly #watches: { close(): void }[] = [];

  constructor(options: WorkersOptions) {
    this.#options = { ...DEFAULTS, ...options };
    this.registry = new WorkerRegistry({
      random: this.#options.random,
      send: (address, waiting) =>
        this.#links.get(address)?.send(JSON.stringify({ method: WAITING, params: waiting })),
    });
  }

  /** Does not wait for any worker: an API without workers queues, and /readyz reports it. */
  async start(): Promise<void> {
    const { sources, resolve, lookUpMs, log } = this.#options;
    for (const source of sources) {
      if (source.kind === 'address') this.#setAddresses(source, [source.address]);
      else
        this.#watches.push(
          watchName({
            ...source,
            resolve,
            everyMs: lookUpMs,
            log,
            onAddresses: found => this.#setAddresses(source, found),
          }),
        );
    }
  }

  async stop(): Promise<void> {
    for (const watch of this.#watches) watch.close();
    for (const each of this.#links.values()) each.close();
    this.#links.clear();
    this.registry.close();
  }

  /** An address that is no longer listed drains by itself: its live link is used to the end. */
  #setAddresses(source: WorkerSource, addresses: Iterable<string>): void {
    this.#named.set(source, new Set(addresses));
    const all = new Set([...this.#named.values()].flatMap(each => [...each]));
    for (const [address, each] of [...this.#links]) if (!all.has(address)) each.retire();
    for (const address of all) {
      const known = this.#links.get(address);
      if (known) known.keep();
      else this.#links.set(address, this.#openLink(address));
    }
  }

  #openLink(address: string): StatusLink {
    const { reach, silenceMs, log, random } = this.#options;
    const readReport = this.#reportReader(address);
    return createStatusLink({
      address,
      reach,
      silenceMs,
      log,
      random,
      ticket: () => this.#statusTicket(),
      onLost: () => this.registry.report(address, undefined),
      onEnd: () => this.#links.delete(address),
      onMessage: data => this.registry.report(address, readReport(data)),
    });
  }

  /**
   * Returns the status in a message, or undefined when the worker must not be used. Logs each
   * reason once in a row.
   */
  #reportReader(address: string): (data: unknown) => WorkerStatus | undefined {
    const { pool, log } = this.#options;
    let logged: string | undefined;
    return data => {
      const status = readStatus(data);
      const problem = status ? unusableBecause(status, pool) : 'its status report is not valid';
      if (problem && problem !== logged) log.warn({ worker: address, problem }, 'worker ignored');
      logged = problem;
      return problem ? undefined : status;
    };
  }

  #statusTicket(): string {
    const { secret, pool } = this.#options;
    return signTicket(secret, {
      pool,
      purpose: 'status',
      renderId: '',
      egress: 'public',
      api: this.registry.api,
      maxMs: 0,
    });
  }
}
