// URLs of pages as callers may write them. No URL is accepted whose host, as parsed by the URL
// standard, is not public, and the guard parses the same host.
import { isIP } from 'node:net';
import { renderSettings } from '../../api/page/render-settings.ts';
import { ApiError } from '../../common/contract/errors.ts';
import { parseRenderRequest } from '../../common/contract/render-request.ts';
import { decideEgress } from '../../worker/egress/address-rule.ts';
import {
  isHostName,
  isLoopbackName,
  parseAbsoluteForm,
  parseAuthority,
} from '../../worker/egress/target.ts';
import type { Chance } from '../fault/harness/random.ts';
import { isPublic } from './address-oracle.ts';
import { type Fuzzer, holds, mutated } from './fuzzer.ts';

const RULES = { ports: [80, 443], intranet: false, allowPorts: [], maxTimeoutMs: 60_000 };
const GUARD = { policy: 'public' as const, allow: [], deny: [], ports: [80, 443] };
const SCHEMES = [
  'http://',
  'https://',
  'HTTP://',
  'hTTps://',
  'http:',
  'http:/',
  'http:///',
  '//',
  'ftp://',
  'file://',
  'view-source:http://',
  'http:\\\\',
  'ｈttp://',
  '',
];
const USERS = [
  '',
  '',
  '',
  '',
  'a@',
  'a:b@',
  '@',
  'example.com@',
  'example.com\\@',
  'example.com%40',
  '127.0.0.1@',
  'example.com#@',
  'example.com?@',
];
const HOSTS = [
  ...[
    '127.0.0.1',
    '127.1',
    '2130706433',
    '0x7f000001',
    '017700000001',
    '0177.0.0.1',
    '0x7f.1',
    '0',
    '10.0.0.1',
    '169.254.169.254',
    '168.63.129.16',
    '192.168.0.1',
  ],
  ...[
    '[::1]',
    '[::]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[64:ff9b::7f00:1]',
    '[2002:7f00:1::]',
    '[fe80::1%25eth0]',
    '[fd00:ec2::254]',
    '[2606:4700::1111]',
  ],
  ...[
    'localhost',
    'LOCALHOST.',
    'a.localhost',
    '①②⑦.⓪.⓪.①',
    '１２７.０.０.１',
    '127。0。0。1',
    '%31%32%37.0.0.1',
    'loc\u00adalhost',
    'ⓛocalhost',
  ],
  ...[
    'example.com',
    'EXAMPLE.com.',
    'bücher.example',
    'xn--bcher-kva.example',
    'a_b.example',
    '1.example',
    '93.184.216.34',
    '1572395042',
    '93.12113442',
    '0x5d.0xb8.0330.34',
  ],
];
const PORTS = [
  '',
  '',
  '',
  ':80',
  ':443',
  ':',
  ':0080',
  ':22',
  ':65616',
  ':99999',
  ':80:80',
  ':８０',
  ': 80',
];
const PATHS = [
  '',
  '/',
  '/a?b#c',
  '?q',
  '#f',
  '/@127.0.0.1',
  '\\@127.0.0.1',
  '/\u0000',
  '/ ',
  '/%00',
  '//127.0.0.1',
  '\n',
  '\t',
];
const ALPHABET = [
  ...[
    '.',
    '..',
    '@',
    ':',
    '/',
    '\\',
    '#',
    '?',
    '%',
    '%2e',
    '%40',
    '%00',
    '%09',
    '[',
    ']',
    '0',
    '1',
    '7',
    'x',
    '0x',
    'a',
    '-',
    '_',
    ' ',
    '\t',
    '\n',
    '\r',
    '\u0000',
  ],
  ...[
    '。',
    '．',
    '｡',
    '①',
    '１',
    '⓪',
    '\u00ad',
    '\u200b',
    '\u200d',
    '\ufeff',
    '\u2028',
    '\ud800',
    'ß',
    'ſ',
    'İ',
    '٣',
    '𝟏',
    '½',
    'xn--',
    '$',
    ',',
    '!',
    '*',
    '<',
    '|',
    '^',
    '`',
    '{',
  ],
];

const judged = (host: string, port: number) => {
  const target = parseAuthority(`${host}:${port}`);
  if (!target) return undefined;
  const found = isLoopbackName(target.host)
    ? ['127.0.0.1', '::1']
    : isIP(target.host)
      ? [target.host]
      : [];
  return { target, open: 'allowed' in decideEgress(target, found, GUARD) };
};

function tryAsPage(url: string): void {
  let accepted: ReturnType<typeof parseRenderRequest>;
  try {
    accepted = parseRenderRequest({ url }, RULES);
  } catch (error) {
    holds(
      error instanceof ApiError && /^`url` /.test(error.message),
      `an error that is not about the address (${error})`,
      url,
    );
    return;
  }
  const opened = renderSettings(accepted).source as { url: string };
  for (const parsed of [new URL(url), new URL(opened.url)]) {
    const { hostname, protocol, username, password } = parsed;
    const bare = hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
    const port = Number(parsed.port || (protocol === 'https:' ? 443 : 80));
    holds(protocol === 'http:' || protocol === 'https:', 'another scheme', url);
    holds(username === '' && password === '', 'a user name', url);
    holds(RULES.ports.includes(port), 'another port', url);
    holds(isIP(bare) === 0 || isPublic(bare), 'an address that is not public', url);
    holds(bare !== 'localhost' && !bare.endsWith('.localhost'), 'a name of this machine', url);
    holds(isIP(bare) !== 0 || !/^[\d.]*$/.test(bare), 'something like an address', url);
    const guard = judged(hostname, port);
    holds(
      guard !== undefined && guard.target.host === bare && guard.target.port === port,
      'another host at the guard',
      url,
    );
    holds(isIP(bare) === 0 ? isHostName(bare) : guard!.open, 'rejected by the guard', url);
  }
}

/** Possible targets of a proxy's request line. */
function tryAtGuard(host: string, port: number): void {
  const guard = judged(host, port);
  if (!guard) return;
  const { target, open } = guard;
  const standard = URL.parse(`http://${host}/`)
    ?.hostname.replace(/^\[|\]$/g, '')
    .replace(/\.$/, '');
  holds(
    standard === undefined || standard === target.host,
    'another host than the URL standard reads',
    host,
  );
  holds(!open || isPublic(target.host), 'access to an address that is not public', host);
  holds(
    isIP(target.host) === 0 || !isHostName(target.host),
    'an address that is a name as well',
    host,
  );
  holds(
    !isHostName(target.host) || !/^[\d.]+$/.test(target.host),
    'an address that would be looked up',
    host,
  );
  const absolute = parseAbsoluteForm(`http://${host}:${port}/x?y`);
  holds(
    absolute?.target.host === target.host && absolute.target.port === port,
    'two readings of a host',
    host,
  );
}

export const urls: Fuzzer = {
  name: 'urls',
  attempt(chance: Chance) {
    const host = mutated(chance, chance.pick(HOSTS), ALPHABET, 3);
    const scheme = chance.percent(75) ? chance.pick(['http://', 'https://']) : chance.pick(SCHEMES);
    const whole =
      scheme +
      (chance.percent(70) ? '' : chance.pick(USERS)) +
      host +
      chance.pick(PORTS) +
      chance.pick(PATHS);
    tryAsPage(chance.percent(70) ? whole : mutated(chance, whole, ALPHABET, 3));
    tryAtGuard(host, chance.pick([80, 443]));
  },
};
