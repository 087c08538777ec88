import { isIP } from 'node:net';
import { expect } from 'chai';
import fc from 'fast-check';
import {
  inNetwork,
  isPrivateUseAddress,
  isPublicAddress,
  literalAddress,
  normalizeAddress,
  parseNetwork,
  subscriberOf,
} from '../../../common/addresses.ts';

const addresses = (text: string) => text.trim().split(/\s+/);

const PUBLIC = addresses(`
  1.1.1.1 1.0.0.0 8.8.8.8 9.9.9.9 9.255.255.255 11.0.0.0 52.95.110.1 93.184.216.34 99.255.255.255 100.0.0.1 100.63.255.255 100.128.0.0 104.16.132.229
  126.255.255.255 128.0.0.0 140.82.121.3 151.101.1.69 168.63.129.15 168.63.129.17 169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 185.199.108.153
  191.255.255.255 192.0.1.0 192.0.1.255 192.0.3.0 192.31.195.255 192.31.197.0 192.52.192.255 192.52.194.0 192.88.98.255 192.88.100.0 192.167.255.255
  192.169.0.0 192.175.47.255 192.175.49.0 193.0.0.1 198.17.255.255 198.20.0.0 198.51.99.255 198.51.101.0 203.0.112.255 203.0.114.0 216.58.214.14
  223.255.255.255
  2001:200:: 2001:4860:4860::8888 2001:470:1f0b::1 2001:db7:ffff:ffff:ffff:ffff:ffff:ffff 2001:db9:: 2003::1 2400:cb00:2048:1::1 2400::1 2600::1
  2600:9000:: 2606:4700:4700::1111 2606:2800:220:1:248:1893:25c8:1946 2620:4f:7fff:ffff:ffff:ffff:ffff:ffff 2620:4f:8001:: 2620:fe::fe 2800::1
  2a00:1450:4001:81b::200e 2a02:2e0:3fe:1001:302:: 2a05:d018:: 2c0f:fb50:4002::1 2001:4860:4860:0:0:0:0:8844 2A00:1450:4001:81B::200E 3ffe:ffff::1
`);

const NOT_PUBLIC = addresses(`
  0.0.0.0 0.0.0.1 0.1.2.3 0.255.255.255
  10.0.0.0 10.0.0.1 10.96.0.1 10.255.255.255
  100.64.0.0 100.64.0.1 100.100.100.200 100.127.255.255
  127.0.0.0 127.0.0.1 127.0.0.53 127.0.1.1 127.1.2.3 127.255.255.254 127.255.255.255
  168.63.129.16
  169.254.0.0 169.254.0.1 169.254.0.23 169.254.42.42 169.254.169.123 169.254.169.253 169.254.169.254 169.254.170.2 169.254.170.23 169.254.255.255
  172.16.0.0 172.16.0.1 172.17.0.1 172.20.10.1 172.31.255.255
  192.0.0.0 192.0.0.1 192.0.0.7 192.0.0.8 192.0.0.9 192.0.0.10 192.0.0.170 192.0.0.171 192.0.0.192 192.0.0.255
  192.0.2.0 192.0.2.1 192.0.2.255
  192.31.196.0 192.31.196.1 192.31.196.255 192.52.193.0 192.52.193.1 192.52.193.255 192.175.48.0 192.175.48.1 192.175.48.255
  192.88.99.0 192.88.99.1 192.88.99.2 192.88.99.255
  192.168.0.0 192.168.0.1 192.168.1.1 192.168.49.2 192.168.65.2 192.168.122.1 192.168.255.255
  198.18.0.0 198.18.0.1 198.19.255.255
  198.51.100.0 198.51.100.1 198.51.100.255 203.0.113.0 203.0.113.1 203.0.113.255
  224.0.0.0 224.0.0.1 224.0.0.251 232.1.1.1 233.252.0.1 239.255.255.250 239.255.255.255
  240.0.0.0 240.0.0.1 250.1.1.1 255.255.255.254 255.255.255.255
  :: ::1 0:0:0:0:0:0:0:0 0:0:0:0:0:0:0:1 0000:0000:0000:0000:0000:0000:0000:0001 ::0001
  ::2 ::7f00:1 ::127.0.0.1 ::10.0.0.1 ::8.8.8.8 ::808:808 ::169.254.169.254 ::ffff ::ffff:ffff
  ::ffff:0:0 ::ffff:127.0.0.1 ::ffff:7f00:1 ::ffff:10.0.0.1 ::ffff:a00:1 ::ffff:169.254.169.254 ::ffff:a9fe:a9fe ::ffff:192.168.1.1 ::ffff:8.8.8.8
  ::ffff:808:808 ::FFFF:1.1.1.1 0:0:0:0:0:ffff:8.8.8.8 0:0:0:0:0:ffff:808:808 ::ffff:255.255.255.255
  ::ffff:0:127.0.0.1 ::ffff:0:8.8.8.8 ::ffff:0:7f00:1 0:0:0:0:ffff:0:808:808
  64:ff9b:: 64:ff9b::1 64:ff9b::127.0.0.1 64:ff9b::7f00:1 64:ff9b::10.0.0.1 64:ff9b::8.8.8.8 64:ff9b::a9fe:a9fe 64:ff9b::ffff:ffff
  64:ff9b:1:: 64:ff9b:1::1 64:ff9b:1::127.0.0.1 64:ff9b:1:ffff:ffff:ffff:ffff:ffff 64:ff9b:2::1 64::1
  100:: 100::1 100::ffff:ffff:ffff:ffff 100:0:0:1:: 100:0:0:1::1 100:0:0:1:ffff:ffff:ffff:ffff 100:0:0:2::1 100:1::1
  200::1 300::1 400::1 800::1 1000::1 1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff
  2001:: 2001::1 2001:0:53aa:64c::1 2001:0:7f00:1::1 2001:0:4136:e378:8000:63bf:3fff:fdd2 2001:0:ffff:ffff:ffff:ffff:ffff:ffff
  2001:1:: 2001:1::1 2001:1::2 2001:1::3 2001:2:: 2001:2::1 2001:2:0:ffff:ffff:ffff:ffff:ffff 2001:2:1::1
  2001:3:: 2001:3::1 2001:4:112:: 2001:4:112::1 2001:4:112:ffff:ffff:ffff:ffff:ffff 2001:5::1
  2001:10:: 2001:10::1 2001:1f:ffff:ffff:ffff:ffff:ffff:ffff 2001:20:: 2001:20::1 2001:2f:ffff:ffff:ffff:ffff:ffff:ffff
  2001:30:: 2001:30::1 2001:3f:ffff:ffff:ffff:ffff:ffff:ffff 2001:40::1 2001:100::1 2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff
  2001:db8:: 2001:db8::1 2001:0db8:85a3::8a2e:370:7334 2001:DB8::1 2001:db8:ffff:ffff:ffff:ffff:ffff:ffff
  2002:: 2002::1 2002:7f00:1::1 2002:a00:1::1 2002:a9fe:a9fe:: 2002:808:808::1 2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff
  2620:4f:8000:: 2620:4f:8000::1 2620:4f:8000:ffff:ffff:ffff:ffff:ffff
  3fff:: 3fff::1 3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff 3FFF:0:1::1
  4000::1 5000::1 5f00:: 5f00::1 5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff 5f01::1 6000::1 7fff::1 8000::1 9000::1 a000::1 bfff::1 c000::1 e000::1 f000::1 f800::1
  fc00:: fc00::1 fcff:ffff:ffff:ffff:ffff:ffff:ffff:ffff fd00:: fd00::1 fd00:42::42 fd00:c1::a9fe:a9fe fd00:ec2::23 fd00:ec2::253 fd00:ec2::254 fd20:ce::254
  fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff FD12:3456:789A::1
  fe00::1 fe80:: fe80::1 fe80::a9fe:a9fe fe80::1%eth0 fe80::1%1 febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff fec0:: fec0::1 fec0:0:0:ffff::1 feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff
  ff00:: ff00::1 ff01::1 ff02::1 ff02::fb ff02::1:ff00:1 ff05::2 ff08::1 ff0e::1 ff3e:40:2001:db8::1 ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff
  2606:4700::1%eth0
`);

const NO_ADDRESS = [
  ...[
    '',
    ' ',
    'localhost',
    'example.com',
    '1',
    '127.1',
    '127.0.1',
    '2130706433',
    '0x7f000001',
    '0x7f.0.0.1',
    '0177.0.0.1',
    '01.1.1.1',
    '1.1.1.01',
  ],
  ...[
    '1.1.1',
    '1.1.1.1.',
    '1.1.1.1.1',
    '1.1.1.256',
    '-1.1.1.1',
    '1.1.1.1 ',
    ' 1.1.1.1',
    '1.1.1.1\n',
    '1.1.1.1/32',
    '１.1.1.1',
    '[::1]',
    '[2606:4700::1]',
  ],
  ...[
    ':',
    ':::',
    '1::2::3',
    '2606:4700::g',
    '2606:4700:1:2:3:4:5:6:7',
    '2606:4700::1.2.3',
    '2606:4700::1.2.3.256',
    '2606:4700::12345',
    '::ffff:127.1',
  ],
];

describe('addresses', () => {
  for (const address of PUBLIC)
    it(`treats ${address} as public`, () => expect(isPublicAddress(address)).to.equal(true));
  for (const address of NOT_PUBLIC)
    it(`does not treat ${address} as public`, () =>
      expect(isPublicAddress(address)).to.equal(false));
  for (const text of NO_ADDRESS) {
    it(`does not parse ${JSON.stringify(text)} as an address`, () => {
      expect(isPublicAddress(text)).to.equal(false);
      expect(normalizeAddress(text)).to.equal(undefined);
      if (!text.endsWith('/32')) expect(parseNetwork(text)).to.equal(undefined);
    });
  }

  it('classifies both ends of every non-public range and their neighbours', () => {
    // [first, last, whether the neighbours outside are public]
    const ranges = [
      ['10.0.0.0', '10.255.255.255', '9.255.255.255', '11.0.0.0'],
      ['100.64.0.0', '100.127.255.255', '100.63.255.255', '100.128.0.0'],
      ['127.0.0.0', '127.255.255.255', '126.255.255.255', '128.0.0.0'],
      ['169.254.0.0', '169.254.255.255', '169.253.255.255', '169.255.0.0'],
      ['172.16.0.0', '172.31.255.255', '172.15.255.255', '172.32.0.0'],
      ['192.168.0.0', '192.168.255.255', '192.167.255.255', '192.169.0.0'],
      ['198.18.0.0', '198.19.255.255', '198.17.255.255', '198.20.0.0'],
      ['224.0.0.0', '255.255.255.255', '223.255.255.255', undefined],
      ['2001::', '2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff', undefined, '2001:200::'],
      [
        '2002::',
        '2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
        '2001:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
        '2003::',
      ],
      [
        '3fff::',
        '3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff',
        '3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
        '3fff:1000::',
      ],
    ] as const;
    for (const [first, last, before, after] of ranges) {
      expect([first, last].filter(isPublicAddress), `${first} - ${last}`).to.deep.equal([]);
      for (const neighbour of [before, after])
        if (neighbour) expect(isPublicAddress(neighbour), neighbour).to.equal(true);
    }
  });

  it('never treats an IPv6 address with an embedded IPv4 address as public', () => {
    const carriers = (v4: string, high: string, low: string) => [
      `::${v4}`,
      `::ffff:${v4}`,
      `::ffff:0:${v4}`,
      `64:ff9b::${v4}`,
      `64:ff9b:1::${v4}`,
      `2002:${high}:${low}::1`,
      `2001:0:${high}:${low}::1`,
    ];
    fc.assert(
      fc.property(fc.ipV4(), v4 => {
        const [a, b, c, d] = v4.split('.').map(Number) as [number, number, number, number];
        const [high, low] = [(a * 256 + b).toString(16), (c * 256 + d).toString(16)];
        expect(carriers(v4, high, low).filter(isPublicAddress)).to.deep.equal([]);
      }),
    );
  });

  it('treats all notations of an IPv6 address the same', () => {
    fc.assert(
      fc.property(fc.ipV6(), text => {
        expect(isIP(text)).to.equal(6);
        const canonical = literalAddress(new URL(`http://[${text}]/`).hostname)!;
        expect(isPublicAddress(text)).to.equal(isPublicAddress(canonical));
        expect(normalizeAddress(text)).to.equal(normalizeAddress(canonical));
        expect(normalizeAddress(normalizeAddress(text)!)).to.equal(normalizeAddress(text));
      }),
      { numRuns: 500 },
    );
  });

  it('finds the literal address in the host of a URL in any notation', () => {
    const cases: [string, string | undefined][] = [
      ['http://127.0.0.1/', '127.0.0.1'],
      ['http://2130706433/', '127.0.0.1'],
      ['http://0x7f000001/', '127.0.0.1'],
      ['http://0177.0.0.1/', '127.0.0.1'],
      ['http://127.1/', '127.0.0.1'],
      ['http://127.0.0.1./', '127.0.0.1'],
      ['http://%31%32%37.0.0.1/', '127.0.0.1'],
      ['http://１２７.0.0.1/', '127.0.0.1'],
      ['http://0/', '0.0.0.0'],
      ['http://[::1]/', '::1'],
      ['http://[::ffff:127.0.0.1]/', '::ffff:7f00:1'],
      ['http://[::]:8080/', '::'],
      ['http://[2606:4700:0:0::1]/', '2606:4700::1'],
      ['http://example.com/', undefined],
      ['http://127.0.0.1.example.com/', undefined],
      ['http://localhost/', undefined],
    ];
    for (const [url, literal] of cases)
      expect(literalAddress(new URL(url).hostname), url).to.equal(literal);
  });

  it('normalizes an address to its canonical text', () => {
    const cases: [string, string | undefined][] = [
      ['::ffff:10.1.2.3', '10.1.2.3'],
      ['::FFFF:a01:203', '10.1.2.3'],
      ['10.1.2.3', '10.1.2.3'],
      ['fe80::1%eth0', 'fe80::1'],
      ['::ffff:10.1.2.3%lo', '10.1.2.3'],
      ['2001:DB8:0:0:0:0:0:1', '2001:db8::1'],
      ['::10.1.2.3', '::a01:203'],
      ['64:ff9b::10.1.2.3', '64:ff9b::a01:203'],
      ['example.com', undefined],
      ['', undefined],
      ['%eth0', undefined],
    ];
    for (const [text, normal] of cases) expect(normalizeAddress(text), text).to.equal(normal);
  });

  it('parses networks and clears their host bits', () => {
    const cases: [string, string | undefined][] = [
      ['10.0.0.0/8', '10.0.0.0/8'],
      ['10.1.2.3/8', '10.0.0.0/8'],
      ['10.1.2.3', '10.1.2.3/32'],
      ['0.0.0.0/0', '0.0.0.0/0'],
      ['fd00::/8', 'fd00::/8'],
      ['fd12::1/8', 'fd00::/8'],
      ['::1', '::1/128'],
      ['::ffff:10.0.0.0/104', '10.0.0.0/8'],
      ['::ffff:10.1.2.3', '10.1.2.3/32'],
      ['10.0.0.0/33', undefined],
      ['::/129', undefined],
      ['10.0.0.0/-1', undefined],
      ['10.0.0.0/08', undefined],
      ['10.0.0.0/8.5', undefined],
      ['10.0.0.0/', undefined],
      ['10.0.0.0/8/8', undefined],
      ['10.0.0/8', undefined],
      ['/8', undefined],
      ['fe80::1%eth0', undefined],
      ['corp.example', undefined],
    ];
    for (const [text, cidr] of cases) expect(parseNetwork(text)?.cidr, text).to.equal(cidr);
  });

  it('finds whether a network contains an address, including IPv4-mapped notations', () => {
    const cases: [string, string, boolean][] = [
      ['10.255.255.255', '10.0.0.0/8', true],
      ['11.0.0.0', '10.0.0.0/8', false],
      ['::ffff:10.0.0.1', '10.0.0.0/8', true],
      ['::ffff:a00:1', '10.0.0.1', true],
      ['10.0.0.1', '::ffff:10.0.0.0/104', true],
      ['::10.0.0.1', '10.0.0.0/8', false],
      ['fd00::1', 'fd00::/8', true],
      ['fe80::1%eth0', 'fe80::/10', true],
      ['fe00::1', 'fd00::/8', false],
      ['127.0.0.1', '::/0', false],
      ['::1', '0.0.0.0/0', false],
      ['192.168.1.129', '192.168.1.128/25', true],
      ['192.168.1.127', '192.168.1.128/25', false],
      ['nonsense', '0.0.0.0/0', false],
    ];
    for (const [address, network, inside] of cases)
      expect(inNetwork(address, parseNetwork(network)!), `${address} in ${network}`).to.equal(
        inside,
      );
  });

  it('distinguishes private-use addresses from loopback, link-local and cloud services', () => {
    const own = addresses(
      '10.0.0.1 172.16.5.4 172.31.255.255 192.168.1.1 100.64.0.1 100.100.100.199 fd12:3456::1 fc00::1',
    );
    const others = addresses(
      '127.0.0.1 ::1 0.0.0.0 :: 169.254.169.254 fe80::1 168.63.129.16 192.0.0.192 100.100.100.200 fd00:ec2::254 fd00:ec2::23 fd20:ce::254 fd00:42::42 fd00:c1::a9fe:a9fe 224.0.0.1 198.18.0.1 255.255.255.255 8.8.8.8 2606:4700::1 fec0::1 64:ff9b::a00:1 ::ffff:10.0.0.1 x',
    );
    expect(own.filter(isPrivateUseAddress)).to.deep.equal(own);
    expect(others.filter(isPrivateUseAddress)).to.deep.equal([]);
  });
});

describe('the subscriber of an address', () => {
  const cases: [address: string, subscriber: string][] = [
    ['198.51.100.7', '198.51.100.7'],
    ['::ffff:198.51.100.7', '198.51.100.7'],
    ['::ffff:c633:6407', '198.51.100.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::1', '2001:db8:1:2::/64'],
    ['2001:db8:1:2:ffff:ffff:ffff:ffff', '2001:db8:1:2::/64'],
    ['2001:db8:1:3::1', '2001:db8:1:3::/64'],
    ['fe80::1%eth0', 'fe80::/64'],
    ['::1', '::/64'],
    ['not an address', 'not an address'],
    ['', ''],
  ];
  for (const [address, subscriber] of cases)
    it(`is ${subscriber || 'empty'} for ${address || 'an empty text'}`, () =>
      expect(subscriberOf(address)).to.equal(subscriber));
});
