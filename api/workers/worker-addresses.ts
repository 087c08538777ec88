// Worker addresses: the list in PRESSROOM_WORKERS, and the watch on a DNS name whose every address
// is a worker.
import { lookup } from 'node:dns/promises';
import { ConfigError } from '../../common/config.ts';
import type { Log } from '../../common/log.ts';

export type WorkerSource =
  | { kind: 'address'; address: string }
  | { kind: 'name'; name: string; port: number };

/**
 * Parses `ws://host:9222`, `wss://host:9222` and `dns://name:9222`; duplicates count once. Throws
 * ConfigError for the first invalid entry.
 */
export function parseWorkerSources(entries: readonly string[]): WorkerSource[] {
  const sources = new Map<string, WorkerSource>();
  for (const entry of entries) {
    // Scheme, host and port only: a path or credentials would be ignored silently.
    const url =
      /^(ws|wss|dns):\/\/[^/?#@\\]+:[1-9]\d*\/?$/i.test(entry) && URL.canParse(entry)
        ? new URL(entry)
        : undefined;
    if (!url)
      throw new ConfigError(
        `PRESSROOM_WORKERS: \`${entry.includes('@') ? '(hidden)' : entry}\` is not a worker address. Accepted: ws://host:port, wss://host:port and dns://name:port, separated by commas`,
      );
    const port = Number(/:(\d+)\/?$/.exec(entry)![1]);
    const address = `${url.protocol}//${url.hostname}:${port}`;
    sources.set(
      address,
      url.protocol === 'dns:'
        ? { kind: 'name', name: url.hostname, port }
        : { kind: 'address', address },
    );
  }
  return [...sources.values()];
}

/** All addresses of a name, in any order; rejects when there are none. */
export type Resolve = (name: string) => Promise<string[]>;

/**
 * The system's resolver, which uses the search list of a pod and /etc/hosts. A pod with addresses
 * of both families must not count as two workers, so IPv6 is used only without IPv4.
 */
export const systemResolve: Resolve = async name => {
  const found = await lookup(name, { all: true });
  const v4 = found.filter(({ family }) => family === 4);
  return (v4.length > 0 ? v4 : found).map(({ address }) => address);
};

interface NameWatch {
  name: string;
  port: number;
  resolve: Resolve;
  everyMs: number;
  log: Log;
  onAddresses(addresses: string[]): void;
}

/**
 * Resolves the name repeatedly, one lookup at a time. A failed lookup changes nothing; the first of
 * a series is logged.
 */
export function watchName({ name, port, resolve, everyMs, log, onAddresses }: NameWatch): {
  close(): void;
} {
  let closed = false;
  let failing = false;
  let timer: NodeJS.Timeout | undefined;

  async function look(): Promise<void> {
    try {
      const found = await resolve(name);
      if (closed) return;
      if (failing)
        log.info({ name, found: found.length }, 'the host name of the workers resolves again');
      failing = false;
      onAddresses(found.map(host => `ws://${host.includes(':') ? `[${host}]` : host}:${port}`));
    } catch (error) {
      if (!failing && !closed)
        log.warn(
          { name, err: error },
          'the host name of the workers does not resolve; known workers stay in use',
        );
      failing = true;
    } finally {
      if (!closed) timer = setTimeout(look, everyMs);
    }
  }

  void look();
  return {
    close() {
      closed = true;
      clearTimeout(timer);
    },
  };
}
