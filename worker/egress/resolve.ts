// Resolves names for one guard with c-ares. getaddrinfo has four threads for the whole process, and
// one page with slow names could occupy them all.
import { promises as dns } from 'node:dns';
import { isIP, isIPv6 } from 'node:net';
import { parseAuthority } from './target.ts';

/** The name has no address, or no name server answered in time. */
export class LookupFailed extends Error {
  override name = 'LookupFailed';
}

/** Parses PRESSROOM_DNS_SERVERS. Throws an Error that names every invalid entry and the fix. */
export function parseNameServers(entries: string[]): string[] {
  const read = entries.map(entry => parseAuthority(isIPv6(entry) ? `[${entry}]` : entry, 53));
  const wrong = entries.filter((_, at) => isIP(read[at]?.host ?? '') === 0);
  const how =
    'is not a valid name server. Use an IP address with an optional port, such as `10.0.0.53`, `10.0.0.53:5353` or `[fd00::53]:53`.';
  if (wrong.length > 0) throw new Error(wrong.map(entry => `\`${entry}\` ${how}`).join('\n'));
  return read.map(at =>
    isIPv6(at!.host) ? `[${at!.host}]:${at!.port}` : `${at!.host}:${at!.port}`,
  );
}

/** `servers` as `parseNameServers` returns them; an empty list means those of the system. */
export function createNames(servers: string[], timeoutMs: number) {
  let opened: dns.Resolver | undefined;
  const resolver = () => {
    if (opened) return opened;
    // Three tries fit into the limit when the first one waits a quarter of it.
    opened = new dns.Resolver({ timeout: Math.ceil(timeoutMs / 4), tries: 3 });
    if (servers.length > 0) opened.setServers(servers);
    return opened;
  };

  /** All IPv4 and IPv6 addresses of the name, IPv4 first, without a cache. Throws LookupFailed. */
  async function addresses(name: string): Promise<string[]> {
    const absolute = `${name}.`; // the dot prevents search domains of the pod from being appended
    const v4: string[] = [];
    const v6: string[] = [];
    let cause: unknown;
    const into = (list: string[], answer: Promise<string[]>) =>
      answer.then(
        found => void list.push(...found),
        error => {
          cause = error;
        },
      );
    const both = Promise.all([
      into(v4, resolver().resolve4(absolute)),
      into(v6, resolver().resolve6(absolute)),
    ]);
    let timer: NodeJS.Timeout | undefined;
    const limit = new Promise(resolve => {
      timer = setTimeout(resolve, timeoutMs);
    });
    await Promise.race([both, limit]);
    clearTimeout(timer);
    // A family without an answer is never dialed, so the other family may be used alone.
    const found = [...v4, ...v6];
    if (found.length === 0) throw new LookupFailed(`no address for ${name}`, { cause });
    return found;
  }

  return {
    addresses,
    /** Cancels the running lookups, which then throw. */
    cancel: () => opened?.cancel(),
  };
}
export type Names = ReturnType<typeof createNames>;
