// Names to addresses for one guard, by c-ares: getaddrinfo has four threads for the whole process,
// and one page with slow names could hold them all.
import { promises as dns } from 'node:dns';
import { isIP, isIPv6 } from 'node:net';
import { parseAuthority } from './target.ts';

/** The name has no address, or no name server said so in time. */
export class LookupFailed extends Error {
  override name = 'LookupFailed';
}

/** Reads PRESSROOM_DNS_SERVERS. Throws an Error that names every wrong entry and how to mend it. */
export function parseNameServers(entries: string[]): string[] {
  const read = entries.map(entry => parseAuthority(isIPv6(entry) ? `[${entry}]` : entry, 53));
  const wrong = entries.filter((_, at) => isIP(read[at]?.host ?? '') === 0);
  const how =
    'is no name server: write an address with an optional port, such as `10.0.0.53`, `10.0.0.53:5353` or `[fd00::53]:53`';
  if (wrong.length > 0) throw new Error(wrong.map(entry => `\`${entry}\` ${how}`).join('\n'));
  return read.map(at =>
    isIPv6(at!.host) ? `[${at!.host}]:${at!.port}` : `${at!.host}:${at!.port}`,
  );
}

export interface Names {
  /**
   * Every IPv4 and IPv6 address of the name, IPv4 first. Asked anew each time. Throws LookupFailed.
   */
  addresses(name: string): Promise<string[]>;
  /** Ends the look-ups under way; they throw. */
  cancel(): void;
}

/** `servers` as `parseNameServers` gives them; none means those of the system. */
export function createNames(servers: string[], timeoutMs: number): Names {
  let opened: dns.Resolver | undefined;
  const resolver = () => {
    if (opened) return opened;
    // Three tries fit into the limit when the first waits a quarter of it.
    opened = new dns.Resolver({ timeout: Math.ceil(timeoutMs / 4), tries: 3 });
    if (servers.length > 0) opened.setServers(servers);
    return opened;
  };

  async function addresses(name: string): Promise<string[]> {
    const absolute = `${name}.`; // so that no search domain of the pod is ever appended
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
    // A family whose answer is missing is never dialled, so what has come may be used.
    const found = [...v4, ...v6];
    if (found.length === 0) throw new LookupFailed(`no address for ${name}`, { cause });
    return found;
  }

  return { addresses, cancel: () => opened?.cancel() };
}
