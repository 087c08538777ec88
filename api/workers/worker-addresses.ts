// Where workers may be: the list in PRESSROOM_WORKERS, and the watch on a DNS name that stands for
// as many workers as it has addresses.
import { lookup } from 'node:dns/promises';
import { ConfigError } from '../../common/config.ts';
import type { Log } from '../../common/log.ts';

export type WorkerSource =
  | { kind: 'address'; address: string }
  | { kind: 'name'; name: string; port: number };

/**
 * Reads `ws://host:9222`, `wss://host:9222` and `dns://name:9222`; a word that comes twice counts
 * once. Throws a ConfigError that names the wrong word and what is accepted.
 */
export function parseWorkerSources(words: readonly string[]): WorkerSource[] {
  const sources = new Map<string, WorkerSource>();
  for (const word of words) {
    // Scheme, host and port and nothing else: a path or credentials would be dropped in silence.
    const url =
      /^(ws|wss|dns):\/\/[^/?#@\\]+:[1-9]\d*\/?$/i.test(word) && URL.canParse(word)
        ? new URL(word)
        : undefined;
    if (!url)
      throw new ConfigError(
        `PRESSROOM_WORKERS: \`${word.includes('@') ? '(hidden)' : word}\` is not a worker address. Accepted: ws://host:port, wss://host:port and dns://name:port, separated by commas`,
      );
    const port = Number(/:(\d+)\/?$/.exec(word)![1]);
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
 * The system's resolver, so that the search list of a pod and /etc/hosts count. A pod with both
 * families must not count as two workers, so the IPv6 addresses are taken only when there are no
 * others.
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
 * Looks the name up again and again, one look-up at a time. A look-up that fails changes nothing;
 * the first of a row is logged.
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
