// An independent oracle for public addresses: Node's own parser and BlockList with a second copy of
// the registries' blocks. Shares no code with the product.
import { BlockList, isIP } from 'node:net';

const closed = new BlockList();
for (const block of [
  ...[
    '0.0.0.0/8',
    '10.0.0.0/8',
    '100.64.0.0/10',
    '127.0.0.0/8',
    '168.63.129.16/32',
    '169.254.0.0/16',
    '172.16.0.0/12',
    '192.0.0.0/24',
    '192.0.2.0/24',
  ],
  ...[
    '192.31.196.0/24',
    '192.52.193.0/24',
    '192.88.99.0/24',
    '192.168.0.0/16',
    '192.175.48.0/24',
    '198.18.0.0/15',
    '198.51.100.0/24',
    '203.0.113.0/24',
    '224.0.0.0/3',
  ],
]) {
  const [base, bits] = block.split('/');
  closed.addSubnet(base!, Number(bits), 'ipv4');
}

const closed6 = new BlockList();
for (const block of [
  '::/3',
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '2620:4f:8000::/48',
  '3fff::/20',
  '4000::/2',
  '8000::/1',
]) {
  const [base, bits] = block.split('/');
  closed6.addSubnet(base!, Number(bits), 'ipv6');
}

/** The eight groups of an IPv6 address. */
function groupsOf(address: string): number[] {
  const plain = new URL(`http://[${address}]/`).hostname.slice(1, -1);
  const [left = '', right] = plain.split('::');
  const read = (part: string) =>
    part === '' ? [] : part.split(':').map(group => Number.parseInt(group, 16));
  const [head, tail] = [read(left), read(right ?? '')];
  return [...head, ...Array.from({ length: 8 - head.length - tail.length }, () => 0), ...tail];
}

/** False for text that is not an address as well. */
export function isPublic(address: string): boolean {
  if (isIP(address) === 4) return !closed.check(address, 'ipv4');
  if (isIP(address) !== 6 || address.includes('%') || closed6.check(address, 'ipv6')) return false;
  const groups = groupsOf(address);
  return !([0, 0x100, 0x200, 0x300].includes(groups[4]!) && groups[5] === 0x5efe);
}
