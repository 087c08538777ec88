// DNS lookup for URLs that anonymous clients make the API fetch. Uses c-ares, since getaddrinfo has
// four threads for the whole process, and slow names could block them all.
import { promises as dns } from 'node:dns';
import type { LookupFunction } from 'node:net';

/** For each name server of the system. */
const TIMEOUT_MS = 1_000;

interface Options {
  isGood(address: string): boolean;
  /** Name servers; default: those of the system. */
  servers?: readonly string[] | undefined;
}

/** Every address must be allowed: a name with one private address among them is an attack. */
export const checkedLookup = ({ isGood, servers }: Options): LookupFunction => {
  async function addresses(hostname: string): Promise<{ address: string; family: 4 | 6 }[]> {
    const resolver = new dns.Resolver({ timeout: TIMEOUT_MS, tries: 2 });
    if (servers) resolver.setServers(servers);
    // Absolute, so that no search domain is appended.
    const absolute = `${hostname.replace(/\.$/, '')}.`;
    const [v4, v6] = await Promise.allSettled([
      resolver.resolve4(absolute),
      resolver.resolve6(absolute),
    ]);
    const found = [
      ...(v4.status === 'fulfilled'
        ? v4.value.map(address => ({ address, family: 4 as const }))
        : []),
      ...(v6.status === 'fulfilled'
        ? v6.value.map(address => ({ address, family: 6 as const }))
        : []),
    ];
    if (found.length === 0 || found.some(({ address }) => !isGood(address)))
      throw new Error('the name has no public address');
    return found;
  }

  return (hostname, options, callback) => {
    addresses(hostname).then(
      found =>
        options.all ? callback(null, found) : callback(null, found[0]!.address, found[0]!.family),
      error => callback(error, '', 4),
    );
  };
};
