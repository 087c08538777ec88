import { expect } from 'chai';
import { isPrivateUseAddress, isPublicAddress } from '../../../common/addresses.ts';

// https://www.iana.org/assignments/iana-ipv4-special-registry, https://www.iana.org/assignments/iana-ipv6-special-registry and, for the rest of IPv6,
// https://www.iana.org/assignments/ipv6-address-space. A line is: block | its first and last address | what lies before it | what lies behind it | source.
// `closed` neighbours belong to another block. Every row was computed with Python's ipaddress
// module, none with the code under test.
const IPV4 = `
  0.0.0.0/8 | 0.0.0.0 0.255.255.255 | none | public 1.0.0.0 | RFC 791 this network
  10.0.0.0/8 | 10.0.0.0 10.255.255.255 | public 9.255.255.255 | public 11.0.0.0 | RFC 1918 private use
  100.64.0.0/10 | 100.64.0.0 100.127.255.255 | public 100.63.255.255 | public 100.128.0.0 | RFC 6598 shared address space
  127.0.0.0/8 | 127.0.0.0 127.255.255.255 | public 126.255.255.255 | public 128.0.0.0 | RFC 1122 loopback
  168.63.129.16/32 | 168.63.129.16 168.63.129.16 | public 168.63.129.15 | public 168.63.129.17 | none Azure host agent
  169.254.0.0/16 | 169.254.0.0 169.254.255.255 | public 169.253.255.255 | public 169.255.0.0 | RFC 3927 link-local
  172.16.0.0/12 | 172.16.0.0 172.31.255.255 | public 172.15.255.255 | public 172.32.0.0 | RFC 1918 private use
  192.0.0.0/24 | 192.0.0.0 192.0.0.255 | public 191.255.255.255 | public 192.0.1.0 | RFC 6890 IETF protocol assignments
  192.0.0.0/29 | 192.0.0.0 192.0.0.7 | public 191.255.255.255 | closed 192.0.0.8 | RFC 7335 IPv4 service continuity
  192.0.0.8/32 | 192.0.0.8 192.0.0.8 | closed 192.0.0.7 | closed 192.0.0.9 | RFC 7600 dummy address
  192.0.0.9/32 | 192.0.0.9 192.0.0.9 | closed 192.0.0.8 | closed 192.0.0.10 | RFC 7723 PCP anycast
  192.0.0.10/32 | 192.0.0.10 192.0.0.10 | closed 192.0.0.9 | closed 192.0.0.11 | RFC 8155 TURN anycast
  192.0.0.170/31 | 192.0.0.170 192.0.0.171 | closed 192.0.0.169 | closed 192.0.0.172 | RFC 7050 NAT64 discovery
  192.0.2.0/24 | 192.0.2.0 192.0.2.255 | public 192.0.1.255 | public 192.0.3.0 | RFC 5737 documentation 1
  192.31.196.0/24 | 192.31.196.0 192.31.196.255 | public 192.31.195.255 | public 192.31.197.0 | RFC 7535 AS112
  192.52.193.0/24 | 192.52.193.0 192.52.193.255 | public 192.52.192.255 | public 192.52.194.0 | RFC 7450 AMT
  192.88.99.0/24 | 192.88.99.0 192.88.99.255 | public 192.88.98.255 | public 192.88.100.0 | RFC 7526 6to4 relays
  192.168.0.0/16 | 192.168.0.0 192.168.255.255 | public 192.167.255.255 | public 192.169.0.0 | RFC 1918 private use
  192.175.48.0/24 | 192.175.48.0 192.175.48.255 | public 192.175.47.255 | public 192.175.49.0 | RFC 7534 AS112 direct
  198.18.0.0/15 | 198.18.0.0 198.19.255.255 | public 198.17.255.255 | public 198.20.0.0 | RFC 2544 benchmarking
  198.51.100.0/24 | 198.51.100.0 198.51.100.255 | public 198.51.99.255 | public 198.51.101.0 | RFC 5737 documentation 2
  203.0.113.0/24 | 203.0.113.0 203.0.113.255 | public 203.0.112.255 | public 203.0.114.0 | RFC 5737 documentation 3
  224.0.0.0/4 | 224.0.0.0 239.255.255.255 | public 223.255.255.255 | closed 240.0.0.0 | RFC 5771 multicast
  240.0.0.0/4 | 240.0.0.0 255.255.255.255 | closed 239.255.255.255 | none | RFC 1112 reserved
  255.255.255.255/32 | 255.255.255.255 255.255.255.255 | closed 255.255.255.254 | none | RFC 919 limited broadcast
`;

const IPV6 = `
  ::/128 | :: :: | none | closed ::1 | RFC 4291 unspecified
  ::1/128 | ::1 ::1 | closed :: | closed ::2 | RFC 4291 loopback
  ::/96 | :: ::ffff:ffff | none | closed ::1:0:0 | RFC 4291 IPv4-compatible
  ::ffff:0:0/96 | ::ffff:0:0 ::ffff:ffff:ffff | closed ::fffe:ffff:ffff | closed ::1:0:0:0 | RFC 4291 IPv4-mapped
  ::ffff:0:0:0/96 | ::ffff:0:0:0 ::ffff:0:ffff:ffff | closed ::fffe:ffff:ffff:ffff | closed ::ffff:1:0:0 | RFC 2765 IPv4-translated
  64:ff9b::/96 | 64:ff9b:: 64:ff9b::ffff:ffff | closed 64:ff9a:ffff:ffff:ffff:ffff:ffff:ffff | closed 64:ff9b::1:0:0 | RFC 6052 NAT64
  64:ff9b:1::/48 | 64:ff9b:1:: 64:ff9b:1:ffff:ffff:ffff:ffff:ffff | closed 64:ff9b:0:ffff:ffff:ffff:ffff:ffff | closed 64:ff9b:2:: | RFC 8215 local NAT64
  100::/64 | 100:: 100::ffff:ffff:ffff:ffff | closed ff:ffff:ffff:ffff:ffff:ffff:ffff:ffff | closed 100:0:0:1:: | RFC 6666 discard
  100:0:0:1::/64 | 100:0:0:1:: 100::1:ffff:ffff:ffff:ffff | closed 100::ffff:ffff:ffff:ffff | closed 100:0:0:2:: | RFC 9780 dummy
  200::/7 | 200:: 3ff:ffff:ffff:ffff:ffff:ffff:ffff:ffff | closed 1ff:ffff:ffff:ffff:ffff:ffff:ffff:ffff | closed 400:: | RFC 4048 OSI addresses
  400::/6 | 400:: 7ff:ffff:ffff:ffff:ffff:ffff:ffff:ffff | closed 3ff:ffff:ffff:ffff:ffff:ffff:ffff:ffff | closed 800:: | RFC 4291 unassigned
  800::/5 | 800:: fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff | closed 7ff:ffff:ffff:ffff:ffff:ffff:ffff:ffff | closed 1000:: | RFC 4291 unassigned
  1000::/4 | 1000:: 1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff | closed fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff | public 2000:: | RFC 4291 unassigned
  2001::/23 | 2001:: 2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff | public 2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff | public 2001:200:: | RFC 2928 IETF protocol assignments
  2001::/32 | 2001:: 2001:0:ffff:ffff:ffff:ffff:ffff:ffff | public 2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff | closed 2001:1:: | RFC 4380 Teredo
  2001:1::1/128 | 2001:1::1 2001:1::1 | closed 2001:1:: | closed 2001:1::2 | RFC 7723 PCP anycast
  2001:1::2/128 | 2001:1::2 2001:1::2 | closed 2001:1::1 | closed 2001:1::3 | RFC 8155 TURN anycast
  2001:1::3/128 | 2001:1::3 2001:1::3 | closed 2001:1::2 | closed 2001:1::4 | RFC 9665 DNS-SD SRP anycast
  2001:2::/48 | 2001:2:: 2001:2:0:ffff:ffff:ffff:ffff:ffff | closed 2001:1:ffff:ffff:ffff:ffff:ffff:ffff | closed 2001:2:1:: | RFC 5180 benchmarking
  2001:3::/32 | 2001:3:: 2001:3:ffff:ffff:ffff:ffff:ffff:ffff | closed 2001:2:ffff:ffff:ffff:ffff:ffff:ffff | closed 2001:4:: | RFC 7450 AMT
  2001:4:112::/48 | 2001:4:112:: 2001:4:112:ffff:ffff:ffff:ffff:ffff | closed 2001:4:111:ffff:ffff:ffff:ffff:ffff | closed 2001:4:113:: | RFC 7535 AS112
  2001:10::/28 | 2001:10:: 2001:1f:ffff:ffff:ffff:ffff:ffff:ffff | closed 2001:f:ffff:ffff:ffff:ffff:ffff:ffff | closed 2001:20:: | RFC 4843 ORCHID
  2001:20::/28 | 2001:20:: 2001:2f:ffff:ffff:ffff:ffff:ffff:ffff | closed 2001:1f:ffff:ffff:ffff:ffff:ffff:ffff | closed 2001:30:: | RFC 7343 ORCHIDv2
  2001:30::/28 | 2001:30:: 2001:3f:ffff:ffff:ffff:ffff:ffff:ffff | closed 2001:2f:ffff:ffff:ffff:ffff:ffff:ffff | closed 2001:40:: | RFC 9374 drone ids
  2001:db8::/32 | 2001:db8:: 2001:db8:ffff:ffff:ffff:ffff:ffff:ffff | public 2001:db7:ffff:ffff:ffff:ffff:ffff:ffff | public 2001:db9:: | RFC 3849 documentation
  2002::/16 | 2002:: 2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff | public 2001:ffff:ffff:ffff:ffff:ffff:ffff:ffff | public 2003:: | RFC 3056 6to4
  2620:4f:8000::/48 | 2620:4f:8000:: 2620:4f:8000:ffff:ffff:ffff:ffff:ffff | public 2620:4f:7fff:ffff:ffff:ffff:ffff:ffff | public 2620:4f:8001:: | RFC 7534 AS112 direct
  3fff::/20 | 3fff:: 3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff | public 3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff | public 3fff:1000:: | RFC 9637 documentation
  4000::/3 | 4000:: 5fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff | public 3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff | closed 6000:: | RFC 4291 unassigned
  5f00::/16 | 5f00:: 5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff | closed 5eff:ffff:ffff:ffff:ffff:ffff:ffff:ffff | closed 5f01:: | RFC 9602 SRv6 SIDs
  6000::/3 | 6000:: 7fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff | closed 5fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff | closed 8000:: | RFC 4291 unassigned
  8000::/3 | 8000:: 9fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff | closed 7fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff | closed a000:: | RFC 4291 unassigned
  a000::/3 | a000:: bfff:ffff:ffff:ffff:ffff:ffff:ffff:ffff | closed 9fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff | closed c000:: | RFC 4291 unassigned
  c000::/3 | c000:: dfff:ffff:ffff:ffff:ffff:ffff:ffff:ffff | closed bfff:ffff:ffff:ffff:ffff:ffff:ffff:ffff | closed e000:: | RFC 4291 unassigned
  e000::/4 | e000:: efff:ffff:ffff:ffff:ffff:ffff:ffff:ffff | closed dfff:ffff:ffff:ffff:ffff:ffff:ffff:ffff | closed f000:: | RFC 4291 unassigned
  f000::/5 | f000:: f7ff:ffff:ffff:ffff:ffff:ffff:ffff:ffff | closed efff:ffff:ffff:ffff:ffff:ffff:ffff:ffff | closed f800:: | RFC 4291 unassigned
  f800::/6 | f800:: fbff:ffff:ffff:ffff:ffff:ffff:ffff:ffff | closed f7ff:ffff:ffff:ffff:ffff:ffff:ffff:ffff | closed fc00:: | RFC 4291 unassigned
  fc00::/7 | fc00:: fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff | closed fbff:ffff:ffff:ffff:ffff:ffff:ffff:ffff | closed fe00:: | RFC 4193 unique local
  fe00::/9 | fe00:: fe7f:ffff:ffff:ffff:ffff:ffff:ffff:ffff | closed fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff | closed fe80:: | RFC 4291 unassigned
  fe80::/10 | fe80:: febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff | closed fe7f:ffff:ffff:ffff:ffff:ffff:ffff:ffff | closed fec0:: | RFC 4291 link-local
  fec0::/10 | fec0:: feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff | closed febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff | closed ff00:: | RFC 3879 site-local
  ff00::/8 | ff00:: ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff | closed feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff | none | RFC 4291 multicast
`;

/** Addresses of cloud services in any block. */
const CLOUD_SERVICES: [cloud: string, addresses: string][] = [
  [
    'AWS',
    '169.254.169.254 169.254.170.2 169.254.170.23 169.254.169.253 169.254.169.123 fd00:ec2::254 fd00:ec2::253 fd00:ec2::23 fd00:ec2::123',
  ],
  ['Azure', '169.254.169.254 168.63.129.16'],
  ['Google', '169.254.169.254 169.254.169.252 fd20:ce::254'],
  ['Oracle', '169.254.169.254 192.0.0.192 fd00:c1::a9fe:a9fe'],
  ['Alibaba', '100.100.100.200'],
  ['Tencent', '169.254.0.23'],
  ['DigitalOcean, Hetzner, IBM, OpenStack, Vultr', '169.254.169.254 fe80::a9fe:a9fe'],
  ['Scaleway', '169.254.42.42 fd00:42::42'],
  ['Linode', '169.254.169.254 fd00:a9fe:a9fe::1'],
];

const EMBEDDED = [
  '127.0.0.1',
  '10.0.0.1',
  '169.254.169.254',
  '192.168.1.1',
  '8.8.8.8',
  '93.184.216.34',
  '0.0.0.0',
  '255.255.255.255',
];

/** The two halves of an IPv4 address, as IPv6 writes them. */
const hex = (v4: string) => {
  const [a, b, c, d] = v4.split('.').map(part => Number(part).toString(16).padStart(2, '0'));
  return `${a}${b}:${c}${d}`;
};

/** The known forms of IPv6 that embed an IPv4 address, by name. */
const CARRIERS: [form: string, write: (v4: string) => string][] = [
  ['IPv4-compatible', v4 => `::${v4}`],
  ['IPv4-mapped', v4 => `::ffff:${v4}`],
  ['IPv4-mapped, written out', v4 => `0:0:0:0:0:ffff:${v4}`],
  ['IPv4-mapped, with all zeros', v4 => `0000:0000:0000:0000:0000:ffff:${v4}`],
  ['IPv4-mapped, in capitals', v4 => `::FFFF:${v4}`],
  ['IPv4-translated', v4 => `::ffff:0:${v4}`],
  ['NAT64', v4 => `64:ff9b::${v4}`],
  ['NAT64, with a leading zero', v4 => `0064:FF9B:0::${v4}`],
  ['local NAT64', v4 => `64:ff9b:1::${v4}`],
  ['local NAT64 of RFC 6052 in a /64', v4 => `64:ff9b:1:0:0:${hex(v4)}:0`],
  ['6to4', v4 => `2002:${hex(v4)}::1`],
  ['Teredo, its server', v4 => `2001:0:${hex(v4)}::1`],
  ['Teredo, its client', v4 => `2001:0:4136:e378:8000:63bf:${hex(v4)}`],
  ['ISATAP', v4 => `2606:4700::5efe:${v4}`],
  ['ISATAP, universal', v4 => `2606:4700::200:5efe:${v4}`],
  ['ISATAP, group', v4 => `2606:4700::100:5EFE:${v4}`],
  ['ISATAP, both', v4 => `2606:4700:1:2:300:5efe:${v4}`],
  ['ISATAP, link-local', v4 => `fe80::5efe:${v4}`],
];

const NEAR_ISATAP = [
  '2606:4700::5eff:127.0.0.1',
  '2606:4700::5efd:127.0.0.1',
  '2606:4700::400:5efe:127.0.0.1',
  '2606:4700::1:5efe:127.0.0.1',
  '2606:4700::8200:5efe:127.0.0.1',
  '2606:4700:0:5efe:1:2:127.0.0.1',
  '2606:4700:5efe::127.0.0.1',
];

describe('IANA registries of special addresses', () => {
  for (const line of `${IPV4}${IPV6}`.split('\n').filter(text => text.trim() !== '')) {
    const [block, ends, before, after, source] = line.split('|').map(part => part.trim()) as [
      string,
      string,
      string,
      string,
      string,
    ];
    for (const address of ends.split(' ')) {
      it(`exclude ${address} of ${block} (${source})`, () =>
        expect(isPublicAddress(address)).to.equal(false));
    }
    for (const neighbour of [before, after].filter(text => text !== 'none')) {
      const [verdict, address] = neighbour.split(' ') as [string, string];
      it(`keep ${address} next to ${block} ${verdict}`, () =>
        expect(isPublicAddress(address)).to.equal(verdict === 'public'));
    }
  }
});

describe('cloud services', () => {
  for (const [cloud, addresses] of CLOUD_SERVICES) {
    it(`have addresses that are neither public nor private-use: ${cloud}`, () => {
      for (const address of addresses.split(' ')) {
        expect(isPublicAddress(address), address).to.equal(false);
        expect(isPrivateUseAddress(address), address).to.equal(false);
      }
    });
  }
});

describe('an IPv6 address that embeds an IPv4 address', () => {
  for (const [form, write] of CARRIERS) {
    for (const v4 of EMBEDDED) {
      it(`is not public: ${form} of ${v4}`, () => {
        expect(isPublicAddress(write(v4))).to.equal(false);
        expect(isPublicAddress(write(v4).replace(v4, hex(v4)))).to.equal(false);
      });
    }
  }

  for (const address of NEAR_ISATAP)
    it(`is not any similar-looking address: ${address}`, () =>
      expect(isPublicAddress(address)).to.equal(true));
});
