import { expect } from 'chai';
import { parseRenderRequest } from '../../../../common/contract/render-request.ts';
import { decideEgress } from '../../../../worker/egress/address-rule.ts';
import { parseAuthority } from '../../../../worker/egress/target.ts';
import { PUBLIC, requestError } from '../../../support/request-error.ts';

type Octets = [number, number, number, number];

const PRIVATE: Octets[] = [
  [127, 0, 0, 1],
  [127, 255, 255, 254],
  [0, 0, 0, 0],
  [10, 1, 2, 3],
  [100, 100, 100, 200],
  [168, 63, 129, 16],
  [169, 254, 169, 254],
  [172, 16, 0, 1],
  [192, 168, 0, 1],
  [192, 0, 0, 192],
  [198, 18, 0, 1],
  [224, 0, 0, 251],
  [255, 255, 255, 255],
];
const PUBLIC_ONE: Octets = [93, 184, 216, 34];

const dotted = (octets: Octets) => octets.join('.');
const whole = ([a, b, c, d]: Octets) => a * 2 ** 24 + b * 2 ** 16 + c * 2 ** 8 + d;
const octal = (value: number) => `0${value.toString(8)}`;
const hex = (value: number) => `0x${value.toString(16)}`;
const written = (octets: Octets, digit: (value: number) => string) =>
  dotted(octets).replaceAll(/\d/g, text => digit(Number(text)));

/**
 * How an IPv4 address can be written in ASCII so that the URL standard
 * (https://url.spec.whatwg.org/#concept-ipv4-parser) reads the same one.
 */
const ASCII: [how: string, write: (octets: Octets) => string][] = [
  ['four decimals', dotted],
  ['a trailing dot', octets => `${dotted(octets)}.`],
  ['one decimal', octets => `${whole(octets)}`],
  ['one decimal and a dot', octets => `${whole(octets)}.`],
  ['one hexadecimal', octets => hex(whole(octets))],
  ['one hexadecimal in capitals', octets => hex(whole(octets)).toUpperCase()],
  ['one octal', octets => octal(whole(octets))],
  ['one octal with zeros before it', octets => `00000${octal(whole(octets))}`],
  ['four hexadecimals', octets => octets.map(hex).join('.')],
  ['four octals', octets => octets.map(octal).join('.')],
  ['four octals with zeros', octets => octets.map(each => `000${octal(each)}`).join('.')],
  [
    'hexadecimals with zeros',
    octets => octets.map(each => `0x000000${each.toString(16)}`).join('.'),
  ],
  ['decimal, octal and hexadecimal', ([a, b, c, d]) => `${a}.${octal(b)}.${hex(c)}.${d}`],
  ['two parts', ([a, b, c, d]) => `${a}.${b * 2 ** 16 + c * 2 ** 8 + d}`],
  ['two parts, hexadecimal', ([a, b, c, d]) => `${hex(a)}.${hex(b * 2 ** 16 + c * 2 ** 8 + d)}`],
  ['three parts', ([a, b, c, d]) => `${a}.${b}.${c * 2 ** 8 + d}`],
  ['three parts, octal', ([a, b, c, d]) => `${octal(a)}.${octal(b)}.${octal(c * 2 ** 8 + d)}`],
];

/**
 * Ways to write it that a URL's parser turns into the same address, but that no proxy's request
 * line can hold.
 */
const BEYOND_ASCII: [how: string, write: (octets: Octets) => string][] = [
  ['full-width digits', octets => written(octets, value => String.fromCodePoint(0xff10 + value))],
  [
    'circled digits',
    octets => written(octets, value => (value === 0 ? '⓪' : String.fromCodePoint(0x245f + value))),
  ],
  ['superscript digits', octets => written(octets, value => '⁰¹²³⁴⁵⁶⁷⁸⁹'[value]!)],
  ['subscript digits', octets => written(octets, value => String.fromCodePoint(0x2080 + value))],
  ['bold digits', octets => written(octets, value => String.fromCodePoint(0x1d7ce + value))],
  [
    'double-struck digits',
    octets => written(octets, value => String.fromCodePoint(0x1d7d8 + value)),
  ],
  ['ideographic full stops', octets => octets.join('。')],
  ['full-width full stops', octets => octets.join('．')],
  ['half-width ideographic full stops', octets => octets.join('｡')],
  [
    'percent-encoding',
    octets => [...dotted(octets)].map(each => `%${each.charCodeAt(0).toString(16)}`).join(''),
  ],
  [
    'percent-encoded full-width digits',
    octets => encodeURIComponent(written(octets, value => String.fromCodePoint(0xff10 + value))),
  ],
  ['a percent-encoded dot', octets => octets.join('%2e')],
  ['soft hyphens', octets => octets.join('\u00ad.')],
  ['zero-width spaces', octets => octets.join('.\u200b')],
  ['word joiners', octets => octets.join('\u2060.')],
];

/** What RFC 4291 section 2.2 allows for one address. */
const IPV6: [what: string, spellings: string][] = [
  [
    'loopback',
    '[::1] [0:0:0:0:0:0:0:1] [0000:0000:0000:0000:0000:0000:0000:0001] [::0001] [0::1] [::0.0.0.1] [0:0:0:0:0:0:0.0.0.1]',
  ],
  ['unspecified', '[::] [0:0:0:0:0:0:0:0] [::0] [::0.0.0.0] [0::0]'],
  [
    'IPv4-mapped loopback',
    '[::ffff:127.0.0.1] [::ffff:7f00:1] [::FFFF:7F00:1] [::ffff:7f00:0001] [0:0:0:0:0:ffff:127.0.0.1] [0:0:0:0:0:FFFF:7f00:1] [0000:0000:0000:0000:0000:ffff:7f00:0001]',
  ],
  ['IPv4-compatible', '[::127.0.0.1] [::7f00:1] [::10.0.0.1] [::a9fe:a9fe]'],
  ['IPv4-translated', '[::ffff:0:127.0.0.1] [::ffff:0:7f00:1] [::FFFF:0:A9FE:A9FE]'],
  [
    'NAT64',
    '[64:ff9b::127.0.0.1] [64:FF9B::7f00:1] [0064:ff9b::a9fe:a9fe] [64:ff9b::8.8.8.8] [64:ff9b:1::7f00:1] [64:ff9b:1:0:0:0:10.0.0.1]',
  ],
  [
    '6to4 and Teredo',
    '[2002:7f00:1::] [2002:7F00:0001::1] [2002:a9fe:a9fe::1] [2002:808:808::1] [2001::7f00:1] [2001:0:7f00:1::1] [2001:0000:0808:0808::1]',
  ],
  [
    'ISATAP',
    '[2606:4700::5efe:127.0.0.1] [2606:4700::5EFE:7F00:1] [2606:4700:0:0:200:5efe:10.0.0.1]',
  ],
  [
    'link-local and site-local',
    '[fe80::1] [FE80::1] [fe80:0:0:0::1] [febf::1] [fec0::1] [feff::1]',
  ],
  ['unique local', '[fc00::1] [fd00::1] [FD00:EC2::254] [fd00:ec2:0:0:0:0:0:254] [fdff:ffff::1]'],
  ['multicast', '[ff02::1] [FF05::2] [ff0e::1]'],
  [
    'special',
    '[100::1] [100:0:0:1::1] [2001:db8::1] [2001:0db8:0000::0001] [3fff::1] [5f00::1] [2001:2::1] [2001:10::1] [2001:20::1]',
  ],
];

const LOOPBACK_NAMES = [
  ...[
    'localhost',
    'LOCALHOST',
    'LocalHost',
    'localhost.',
    'a.localhost',
    'a.b.LOCALHOST.',
    'ｌｏｃａｌｈｏｓｔ',
    'ⓛⓞⓒⓐⓛⓗⓞⓢⓣ',
    'localhost。',
  ],
  ...[
    '%6c%6f%63%61%6c%68%6f%73%74',
    'local\u00adhost',
    'ｌocalhost',
    'loca𝐥host',
    'localhoſt',
    'a。localhost',
    'x%2elocalhost',
  ],
];

/** Not an address: reported as an invalid address, and no target for the guard. */
const NO_HOST = [
  ...[
    '256.256.256.256',
    '4294967296',
    '0x100000000',
    '040000000000',
    '1.2.3.256',
    '1.2.65536',
    '1.16777216',
    '1.2.3.4.5',
    '0x1.2.3.4.5',
  ],
  ...[
    '127.0.0.1..',
    '127.0.0.1...',
    'localhost..',
    '.127.0.0.1',
    '127..0.0.1',
    '127.0.0.1.。',
    '..',
    '.',
    'a..b',
    '.a',
    '08.0.0.1',
    '0x7g.0.0.1',
    'a.1',
    'a.0x1',
    '1.2.3.09',
  ],
  ...[
    '[::1',
    '::1',
    '[::1]]',
    '[[::1]]',
    '[127.0.0.1]',
    '[::ffff:127.1]',
    '[::ffff:0x7f.0.0.1]',
    '[::ffff:127.0.0.01]',
    '[::ffff:127.0.0.1.]',
    '[::ffff:１２７.0.0.1]',
    '[1::2::3]',
  ],
  ...[
    '[fe80::1%25eth0]',
    '[fe80::1%eth0]',
    '[::1%250]',
    '[::1%0]',
    '[fe80::1%25]',
    '[v1.x]',
    '[localhost]',
    '[]',
    '[::]x',
    'x[::1]',
    '[::1].',
  ],
  ...[
    'exa$mple.com',
    'a,b.example',
    'a!b',
    'a(b)',
    "a'b",
    'a;b',
    'a=b',
    'a~b',
    '*.example',
    `${'a'.repeat(64)}.example`,
    `${'a.'.repeat(126)}ab`,
  ],
  ...[
    '%00',
    '%0a',
    '%20',
    'a%09b',
    '%2f',
    '%40',
    '127.0.0.1%2f',
    '127.0.0.1%00',
    '127.0.0.1%23.example',
    '%zz',
    'a%',
  ],
];

const guarded = (host: string): string => {
  const target = parseAuthority(`${host}:80`);
  if (!target) return 'no target';
  const addresses =
    target.host === 'localhost' || target.host.endsWith('.localhost')
      ? ['127.0.0.1', '::1']
      : [target.host];
  const decision = decideEgress(target, addresses, {
    policy: 'public',
    allow: [],
    deny: [],
    ports: [80],
  });
  return 'denied' in decision ? decision.denied : 'allowed';
};

describe('an address that is not public', () => {
  for (const octets of PRIVATE) {
    for (const [how, write] of ASCII) {
      const host = write(octets);
      it(`is rejected as ${host}: ${dotted(octets)} in ${how}`, () => {
        expect(requestError({ url: `http://${host}/` }).code).to.equal('ssrf_blocked');
        expect(parseAuthority(`${host}:80`)).to.deep.equal({ host: dotted(octets), port: 80 });
        expect(guarded(host)).to.equal('address');
      });
    }
    for (const [how, write] of BEYOND_ASCII) {
      const host = write(octets);
      it(`is rejected as ${JSON.stringify(host)}: ${dotted(octets)} in ${how}`, () => {
        expect(requestError({ url: `http://${host}/` }).code).to.equal('ssrf_blocked');
        expect(guarded(host)).to.equal('no target');
      });
    }
  }

  for (const [what, spellings] of IPV6) {
    for (const host of spellings.split(' ')) {
      it(`is rejected as ${host} (${what})`, () => {
        expect(requestError({ url: `http://${host}/` }).code).to.equal('ssrf_blocked');
        expect(guarded(host)).to.equal('address');
      });
    }
  }

  for (const host of LOOPBACK_NAMES) {
    it(`is rejected by the name ${JSON.stringify(host)}`, () => {
      expect(requestError({ url: `http://${host}/` }).code).to.equal('ssrf_blocked');
      expect(guarded(host)).to.be.oneOf(['address', 'no target']);
    });
  }

  for (const host of NO_HOST) {
    it(`is not hidden in ${JSON.stringify(host.slice(0, 40))}, which is no host`, () => {
      expect(requestError({ url: `http://${host}/` }).code).to.equal('validation_error');
      expect(guarded(host)).to.be.oneOf(['address', 'no target']);
    });
  }

  for (const scheme of ['http', 'HTTP', 'hTtP', 'https', 'HTTPS']) {
    it(`is rejected behind ${scheme}://, with a path, a query, a fragment and a port`, () => {
      for (const rest of [
        '',
        '/',
        '/a/b',
        '?q',
        '#f',
        '/?u=http://example.com/',
        ':80/',
        ':443',
        ':8080/x',
      ])
        expect(requestError({ url: `${scheme}://127.0.0.1${rest}` }).code, rest).to.equal(
          'ssrf_blocked',
        );
    });
  }
});

describe('an address that is public', () => {
  for (const [how, write] of [...ASCII, ...BEYOND_ASCII]) {
    it(`is accepted in ${how}`, () => {
      const url = `http://${write(PUBLIC_ONE)}/`;
      expect(parseRenderRequest({ url }, PUBLIC)).to.deep.equal({ url });
    });
  }
});
