// The networks that may use an API key: parses them and checks an address against them. Pure.
import { inNetwork, parseNetwork } from '../../common/addresses.ts';
import { invalid } from '../../common/contract/errors.ts';

export const MAX_NETWORKS = 50;

/**
 * Throws validation_error that names an invalid entry. Returns undefined, which allows any address,
 * for empty input.
 */
export function parseAllowedIps(entries: readonly string[]): string[] | undefined {
  if (entries.length > MAX_NETWORKS)
    throw invalid(`\`allowedIps\` has ${entries.length} entries. The maximum is ${MAX_NETWORKS}.`);
  const networks = entries.map(entry => {
    const network = parseNetwork(entry);
    if (!network)
      throw invalid(
        `\`allowedIps\`: \`${entry}\` is not a valid IP address or CIDR range. Examples: 203.0.113.7, 2001:db8::/32.`,
      );
    return network.cidr;
  });
  return networks.length === 0 ? undefined : networks;
}

/** True when there is no restriction or one of the networks contains the address. */
export function addressIsAllowed(address: string, networks: readonly string[]): boolean {
  if (networks.length === 0) return true;
  return networks.some(entry => {
    const network = parseNetwork(entry);
    return network !== undefined && inNetwork(address, network);
  });
}
