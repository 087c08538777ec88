// The networks that a key may be used from: how they are read and how an address is checked against
// them. Pure.
import { inNetwork, parseNetwork } from '../../common/addresses.ts';
import { invalid } from '../../common/contract/errors.ts';

export const MAX_NETWORKS = 50;

/**
 * Throws validation_error naming the entry that is no address and no network. Empty input means
 * "anywhere", which is `undefined`.
 */
export function parseAllowedIps(entries: readonly string[]): string[] | undefined {
  if (entries.length > MAX_NETWORKS)
    throw invalid(
      `\`allowedIps\` has ${entries.length} entries; at most ${MAX_NETWORKS} are accepted.`,
    );
  const networks = entries.map(entry => {
    const network = parseNetwork(entry);
    if (!network)
      throw invalid(
        `\`allowedIps\`: \`${entry}\` is no IP address or network such as 203.0.113.7 or 2001:db8::/32.`,
      );
    return network.cidr;
  });
  return networks.length === 0 ? undefined : networks;
}

/** True when there is no restriction, or one of the networks holds the address. */
export function addressIsAllowed(address: string, networks: readonly string[]): boolean {
  if (networks.length === 0) return true;
  return networks.some(entry => {
    const network = parseNetwork(entry);
    return network !== undefined && inNetwork(address, network);
  });
}
