// Parses the allowlist of addresses beside the public ones (PRESSROOM_EGRESS_ALLOW): host patterns
// and networks, each with an optional port. address-rule.ts applies it.
import { isIPv4, isIPv6 } from 'node:net';
import { type Network, networkOf } from '../../common/addresses.ts';
import { readEach } from '../../common/config.ts';
import { isHostName, isLoopbackName } from './target.ts';

/** One entry. Without a port it allows PRESSROOM_EGRESS_PORTS. */
export type AllowRule = { port: number | undefined } & (
  | { kind: 'network'; network: Network }
  /** `host` itself, or with `below` all its subdomains without itself. */
  | { kind: 'host'; host: string; below: boolean }
);

const FORMS =
  '`wiki.corp`, `*.corp.example`, `10.0.0.0/8`, `[fd00::1]`, each with an optional `:port`';

const wrong = (entry: string, how: string) => new Error(`\`${entry}\` ${how}`);

function splitPort(entry: string): { address: string; port: number | undefined } {
  if (isIPv6(entry)) return { address: entry, port: undefined };
  const [, bracketed, plain, digits] =
    /^(?:\[([^[\]]*)\]|([^[\]]*?))(?::(\d*))?$/.exec(entry) ?? [];
  const address = bracketed ?? plain ?? '';
  if (bracketed !== undefined && !bracketed.includes(':'))
    throw wrong(entry, 'has brackets but no IPv6 address. Remove the brackets.');
  if (digits === undefined) return { address, port: undefined };
  const port = Number(digits);
  if (digits === '' || port < 1 || port > 65_535)
    throw wrong(entry, 'has an invalid port. Use a number from 1 to 65535, or remove the colon.');
  return { address, port };
}

function hostOf(entry: string, address: string): { host: string; below: boolean } {
  const below = address.startsWith('*.');
  const name = (below ? address.slice(2) : address).replace(/\.$/, '');
  if (/^[a-z]+:\/\//i.test(entry) || name.includes('/'))
    throw wrong(entry, `is a URL or has a path. Use only the host, as in ${FORMS}.`);
  if (name.includes('*') || name === '')
    throw wrong(
      entry,
      'has a misplaced `*`. A wildcard covers all subdomains, as in `*.corp.example`.',
    );
  if (/(^|\.)(\d+|0x[0-9a-f]*)$/i.test(name))
    throw wrong(
      entry,
      'is not a valid IPv4 address. Use an address such as `10.1.2.3` or a network such as `10.0.0.0/8`.',
    );
  const host = URL.parse(`http://${name}/`)?.hostname ?? '';
  if (/[^\p{L}\p{N}._-]/u.test(name) || !isHostName(host))
    throw wrong(entry, `is neither a host pattern nor a network. Examples: ${FORMS}.`);
  if (isLoopbackName(host))
    throw wrong(
      entry,
      'never matches, because names cannot allow loopback addresses. Use the network, such as `127.0.0.0/8:3000` or `[::1]:3000`.',
    );
  return { host, below };
}

const looksLikeNetwork = (address: string) =>
  /^[0-9a-f:.]+$/i.test(address)
    ? isIPv4(address) || address.includes(':')
    : /^([\d.]+|[0-9a-f]*:[0-9a-f:.]*)\//i.test(address);

/** Parses one entry. Throws an Error that names the entry and the fix. */
export function parseAllowRule(entry: string): AllowRule {
  const { address, port } = splitPort(entry);
  return looksLikeNetwork(address)
    ? { kind: 'network', port, network: networkOf(entry, address) }
    : { kind: 'host', port, ...hostOf(entry, address) };
}

/** Parses the whole list. Throws one Error with all invalid entries. */
export const parseAllowList = (entries: string[]): AllowRule[] => readEach(entries, parseAllowRule);
