// Classifies IP addresses: public, private, or inside a network. Pure; the only file that imports
// ipaddr.js.
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

type Parsed = ipaddr.IPv4 | ipaddr.IPv6;

/** A range of addresses. `cidr` is canonical: host bits cleared, IPv4-mapped ranges as IPv4. */
export interface Network {
  readonly cidr: string;
  readonly range: readonly [Parsed, number];
}

const IPV4_MAPPED_BITS = 96;

const dottedTail = (text: string) =>
  text.replace(
    /(\d+)\.(\d+)\.(\d+)\.(\d+)$/,
    (_, a, b, c, d) => `${(a * 256 + +b).toString(16)}:${(c * 256 + +d).toString(16)}`,
  );

/**
 * Accepts only what `net.isIP` accepts: ipaddr.js alone would parse `127.1` and `0x7f000001`. It
 * also parses `::1.2.3.4` as `::ffff:1.2.3.4` (2.5.0), so dots in IPv6 are converted first.
 */
function parse(text: string): Parsed | undefined {
  const version = text.includes('%') ? 0 : isIP(text);
  return version === 0 ? undefined : ipaddr.parse(version === 6 ? dottedTail(text) : text);
}

const unmapped = (address: Parsed): Parsed =>
  address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress()
    ? address.toIPv4Address()
    : address;

const matches = (address: Parsed, { range: [base, bits] }: Network) =>
  address.kind() === base.kind() && address.match(base, bits);

/**
 * Parses a CIDR (`10.0.0.0/8`, `fd00::/8`) or a single address. Undefined for anything else,
 * including zone IDs.
 */
export function parseNetwork(text: string): Network | undefined {
  const [host = '', prefix, ...rest] = text.split('/');
  const address = parse(host);
  const width = isIP(host) === 4 ? 32 : 128;
  const bits =
    prefix === undefined ? width : /^(0|[1-9]\d{0,2})$/.test(prefix) ? Number(prefix) : Number.NaN;
  if (!address || rest.length > 0 || !(bits <= width)) return undefined;
  const plain = bits >= IPV4_MAPPED_BITS ? unmapped(address) : address;
  const plainBits = plain === address ? bits : bits - IPV4_MAPPED_BITS;
  const version = plain instanceof ipaddr.IPv4 ? ipaddr.IPv4 : ipaddr.IPv6;
  const base = version.networkAddressFromCIDR(`${plain}/${plainBits}`);
  return { cidr: `${base}/${plainBits}`, range: [base, plainBits] };
}

const base = (network: Network) => network.cidr.split('/')[0];

/**
 * Parses an entry of a list. Throws an Error that names the entry and the fix. `text`: the part of
 * the entry that is the network.
 */
export function networkOf(entry: string, text = entry): Network {
  const network = parseNetwork(text);
  if (!network)
    throw new Error(
      `\`${entry}\` is not a valid network. Use CIDR notation such as \`10.0.0.0/8\` or \`fd00::/8\``,
    );
  const address = text.split('/')[0]!;
  // 10.1.2.3/8 is ambiguous: one address or sixteen million.
  if (base(network) !== base(parseNetwork(address)!))
    throw new Error(
      `\`${entry}\` has host bits set. Use \`${network.cidr}\` for the network or \`${address}\` for the single address`,
    );
  return network;
}

const table = (cidrs: string[]): Network[] => cidrs.map(cidr => parseNetwork(cidr)!);

// https://www.iana.org/assignments/iana-ipv4-special-registry and -ipv6-special-registry. Includes
// globally reachable anycast services (AS112, AMT, PCP, TURN): they host no pages, and the nearest
// instance may be in a private network.
const NOT_PUBLIC = table([
  '0.0.0.0/8', // this network, RFC 791; connecting to 0.0.0.0 reaches this host
  '10.0.0.0/8', // private use, RFC 1918
  // shared address space of carriers, RFC 6598; Alibaba's metadata is 100.100.100.200
  '100.64.0.0/10',
  '127.0.0.0/8', // loopback, RFC 1122
  // not in the registry: Azure's host agent on every virtual machine
  '168.63.129.16/32',
  '169.254.0.0/16', // link-local, RFC 3927; the metadata services of most clouds
  '172.16.0.0/12', // private use, RFC 1918
  // IETF protocol assignments, RFC 6890 (DS-Lite, dummy, PCP and TURN anycast, NAT64 discovery);
  // Oracle's old metadata is .192
  '192.0.0.0/24',
  '192.0.2.0/24', // documentation, RFC 5737
  '192.31.196.0/24', // AS112, RFC 7535
  '192.52.193.0/24', // AMT relays, RFC 7450
  '192.88.99.0/24', // 6to4 relay anycast, deprecated by RFC 7526
  '192.168.0.0/16', // private use, RFC 1918
  '192.175.48.0/24', // AS112 direct delegation, RFC 7534
  '198.18.0.0/15', // benchmarking, RFC 2544
  '198.51.100.0/24', // documentation, RFC 5737
  '203.0.113.0/24', // documentation, RFC 5737
  '224.0.0.0/4', // multicast, RFC 5771
  '240.0.0.0/4', // reserved, RFC 1112; 255.255.255.255 is limited broadcast
  // IETF protocol assignments, RFC 2928: Teredo, benchmarking, AMT, AS112, ORCHID and ORCHIDv2,
  // drone ids, PCP, TURN
  '2001::/23',
  '2001:db8::/32', // documentation, RFC 3849
  '2002::/16', // 6to4, RFC 3056: carries any IPv4 address
  '2620:4f:8000::/48', // AS112 direct delegation, RFC 7534
  '3fff::/20', // documentation, RFC 9637
]);

// IANA hands out IPv6 unicast from 2000::/3 only
// (https://www.iana.org/assignments/ipv6-address-space). Outside it, and so never public: ::, ::1,
// IPv4-compatible ::/96, IPv4-mapped, NAT64 64:ff9b::/96 and 64:ff9b:1::/48, discard 100::/64,
// dummy 100:0:0:1::/64, SRv6 5f00::/16, fc00::/7, fe80::/10, fec0::/10, ff00::/8.
const IPV6_UNICAST = parseNetwork('2000::/3')!;

const PRIVATE_USE = table([
  '10.0.0.0/8', // RFC 1918
  '172.16.0.0/12', // RFC 1918
  '192.168.0.0/16', // RFC 1918
  '100.64.0.0/10', // RFC 6598: some clouds number pods and services from it
  'fc00::/7', // unique local, RFC 4193
]);

// Cloud metadata services inside the private ranges. Link-local ones need no row.
const CLOUD_SERVICES = table([
  '100.100.100.200/32', // Alibaba
  'fd00:ec2::/32', // AWS: instance metadata, EKS pod identity
  'fd20:ce::254/128', // Google
  'fd00:42::42/128', // Scaleway
  'fd00:c1::a9fe:a9fe/128', // Oracle
  'fd00:a9fe:a9fe::1/128', // Linode
]);

/**
 * An interface ID that embeds an IPv4 address (RFC 5214 section 6.1) in any network:
 * `…:0:5efe:a.b.c.d`, `…:200:5efe:…`.
 */
const isIsatap = (address: Parsed) =>
  address instanceof ipaddr.IPv6 &&
  (address.parts[4]! & ~0x0300) === 0 &&
  address.parts[5] === 0x5efe;

/** True only for a globally reachable unicast address. False for anything else. */
export function isPublicAddress(address: string): boolean {
  const parsed = parse(address);
  if (!parsed || isIsatap(parsed) || NOT_PUBLIC.some(network => matches(parsed, network)))
    return false;
  // Also checks the library's own list, as defense in depth.
  return (
    parsed.range() === 'unicast' && (parsed.kind() === 'ipv4' || matches(parsed, IPV6_UNICAST))
  );
}

/**
 * True for an address of a private network, except loopback, link-local and cloud metadata
 * services.
 */
export function isPrivateUseAddress(address: string): boolean {
  const parsed = parse(address);
  return (
    parsed !== undefined &&
    PRIVATE_USE.some(at => matches(parsed, at)) &&
    !CLOUD_SERVICES.some(at => matches(parsed, at))
  );
}

/**
 * The IP address in a WHATWG `URL.hostname`, without brackets; undefined for a name. The URL parser
 * has already normalized other notations (https://url.spec.whatwg.org/#concept-ipv4-parser).
 */
export function literalAddress(hostname: string): string | undefined {
  const bare = /^\[(.*)\]$/.exec(hostname)?.[1];
  if (bare !== undefined) return isIP(bare) === 6 ? bare : undefined;
  return isIP(hostname) === 4 ? hostname : undefined;
}

/**
 * The canonical text of an address: `::ffff:a.b.c.d` becomes `a.b.c.d`, zone IDs are removed, IPv6
 * is written as in RFC 5952. Undefined for an invalid address.
 */
export function normalizeAddress(text: string): string | undefined {
  const address = parse(text.replace(/%.*$/s, ''));
  return address && unmapped(address).toString();
}

/**
 * The addresses of one subscriber: an IPv4 address, or the /64 of an IPv6 address (RFC 4291
 * §2.5.4). Returns other text, such as the name of a pipe, unchanged.
 */
export function subscriberOf(address: string): string {
  const normal = normalizeAddress(address);
  if (normal === undefined) return address;
  return isIP(normal) === 6 ? parseNetwork(`${normal}/64`)!.cidr : normal;
}

/** Whether the network contains the address. IPv4-mapped IPv6 counts as IPv4. */
export function inNetwork(address: string, network: Network): boolean {
  const normal = normalizeAddress(address);
  return normal !== undefined && matches(parse(normal)!, network);
}
