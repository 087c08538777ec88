// The workers of this process's pool: finds them by list or by name, keeps a status link to each,
// and feeds the registry. A lifecycle service.
import type { Service } from '../../common/lifecycle.ts';
import type { Log } from '../../common/log.ts';
import { SILENCE_MS, WAITING } from '../../common/protocol.ts';
import { signTicket } from '../../common/ticket.ts';
import { WorkerRegistry } from './registry.ts';
import { createStatusLink, type StatusLink } from './status-link.ts';
import { type Resolve, systemResolve, type WorkerSource, watchName } from './worker-addresses.ts';
import { readStatus, unusableBecause } from './worker-status.ts';

/** Pods come and go within seconds; a headless Service's records live for 5 s in most clusters. */
const LOOK_UP_MS = 2_000;

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

export type Workers = Service &
  Pick<
    WorkerRegistry,
    'api' | 'known' | 'pick' | 'claim' | 'capacity' | 'announce' | 'totals' | 'list' | 'onChange'
  >;

/**
 * Its `start` does not wait for any worker: an API without workers queues, and says so in /readyz.
 */
export function createWorkers(options: WorkersOptions): Workers {
  const {
    sources,
    pool,
    secret,
    log,
    reach = address => address,
    resolve = systemResolve,
    lookUpMs = LOOK_UP_MS,
    silenceMs = SILENCE_MS,
    random = Math.random,
  } = options;
  const links = new Map<string, StatusLink>();
  const registry = new WorkerRegistry({
    random,
    send: (address, waiting) =>
      links.get(address)?.send(JSON.stringify({ method: WAITING, params: waiting })),
  });
  const watches: { close(): void }[] = [];

  function link(address: string): StatusLink {
    let objection: string | undefined;
    return createStatusLink({
      address,
      reach,
      silenceMs,
      log,
      random,
      ticket: () =>
        signTicket(secret, {
          pool,
          purpose: 'status',
          renderId: '',
          egress: 'public',
          api: registry.api,
          maxMs: 0,
        }),
      onLost: () => registry.report(address, undefined),
      onEnd: () => links.delete(address),
      onMessage(data) {
        const status = readStatus(data);
        const problem = status ? unusableBecause(status, pool) : 'its status is not readable';
        if (problem && problem !== objection)
          log.warn({ worker: address, problem }, 'a worker is not used');
        objection = problem;
        registry.report(address, problem ? undefined : status);
      },
    });
  }

  /** Addresses by the source that names them. */
  const named = new Map<WorkerSource, Set<string>>();

  /** What is named no more drains by itself: its live link is used to the end. */
  function name(source: WorkerSource, addresses: Iterable<string>): void {
    named.set(source, new Set(addresses));
    const all = new Set([...named.values()].flatMap(each => [...each]));
    for (const [address, each] of [...links]) if (!all.has(address)) each.retire();
    for (const address of all) {
      const known = links.get(address);
      if (known) known.keep();
      else links.set(address, link(address));
    }
  }

  return {
    name: 'workers',
    api: registry.api,
    known: () => registry.known(),
    pick: avoid => registry.pick(avoid),
    claim: address => registry.claim(address),
    capacity: () => registry.capacity(),
    announce: (waiting, avoid) => registry.announce(waiting, avoid),
    totals: () => registry.totals(),
    list: () => registry.list(),
    onChange: listener => registry.onChange(listener),
    async start() {
      for (const source of sources) {
        if (source.kind === 'address') name(source, [source.address]);
        else
          watches.push(
            watchName({
              ...source,
              resolve,
              everyMs: lookUpMs,
              log,
              onAddresses: found => name(source, found),
            }),
          );
      }
    },
    async stop() {
      for (const watch of watches) watch.close();
      for (const each of links.values()) each.close();
      links.clear();
      registry.close();
    },
  };
}
