// Addresses in every notation, valid and broken: the product and the oracle must agree, and an
// address must have exactly one meaning.
import { isIP } from 'node:net';
import {
  inNetwork,
  isPrivateUseAddress,
  isPublicAddress,
  normalizeAddress,
  parseNetwork,
} from '../../common/addresses.ts';
import { decideEgress } from '../../worker/egress/address-rule.ts';
import type { Chance } from '../fault/harness/random.ts';
import { isPublic } from './address-oracle.ts';
import { type Fuzzer, holds, mutated } from './fuzzer.ts';

const ALPHABET = [
  '0',
  '1',
  '9',
  'f',
  'F',
  ':',
  '::',
  '.',
  '%',
  '/',
  '0x',
  '-',
  ' ',
  '\n',
  '[',
  ']',
  'ffff:',
  '5efe',
  '127.0.0.1',
  '１',
  '٣',
  '\u0000',
];
const EDGES = [
  0, 1, 9, 10, 11, 63, 64, 99, 100, 127, 128, 168, 169, 172, 191, 192, 198, 203, 223, 224, 254, 255,
];
const GROUPS = [
  '0',
  '1',
  '2',
  'ffff',
  '5efe',
  '200',
  '64',
  'ff9b',
  '100',
  '2001',
  '2002',
  'db8',
  '3fff',
  '2620',
  '4f',
  '8000',
  '5f00',
  'fc00',
  'fe80',
  'fec0',
  'ff02',
  '2606',
  '4700',
  '7f00',
  'a9fe',
  '0000',
  '0DB8',
];

const octet = (chance: Chance) => (chance.percent(60) ? chance.pick(EDGES) : chance.int(0, 255));
const v4 = (chance: Chance) => Array.from({ length: 4 }, () => octet(chance)).join('.');

function v6(chance: Chance): string {
  const group = () =>
    chance.percent(70) ? chance.pick(GROUPS) : chance.int(0, 0xffff).toString(16);
  const tail = chance.percent(30) ? [v4(chance)] : [group(), group()];
  const groups = [...Array.from({ length: 6 }, group), ...tail];
  if (chance.percent(60)) {
    const from = chance.int(0, groups.length - 1);
    groups.splice(from, chance.int(1, groups.length - from), '');
  }
  const text = groups.join(':').replace(/^:/, '::').replace(/:$/, '::');
  return text === '' ? '::' : text;
}

export const addresses: Fuzzer = {
  name: 'addresses',
  attempt(chance) {
    const written = chance.percent(40) ? v4(chance) : v6(chance);
    const text = chance.percent(50) ? written : mutated(chance, written, ALPHABET);
    const open = isPublicAddress(text);
    holds(
      open === isPublic(text),
      `one says ${open ? 'public' : 'not public'}, the other does not`,
      text,
    );
    holds(!(open && isPrivateUseAddress(text)), 'both public and private', text);
    const isAddress = isIP(text) !== 0 && !text.includes('%');
    const normal = normalizeAddress(text);
    holds(!isAddress || normal !== undefined, 'an address without a normal form', text);
    if (normal !== undefined) {
      holds(
        isIP(normal) !== 0 && normalizeAddress(normal) === normal,
        'a normal form that is none',
        text,
      );
      holds(!open || isPublicAddress(normal), 'public in this notation only', text);
      holds(inNetwork(text, parseNetwork(normal)!), 'an address outside its own network', text);
    }
    const decision = decideEgress({ host: 'a.example', port: 80 }, [text], {
      policy: 'public',
      allow: [],
      deny: [],
      ports: [80],
    });
    holds('allowed' in decision === isPublic(text), 'the guard decides otherwise', text);
    if (isAddress) {
      // An IPv4-mapped address counts as its IPv4 address, which is in no wider network of
      // IPv6.
      const least = isIP(text) === 6 && isIP(normal!) === 4 ? 96 : 0;
      const bits = chance.int(least, isIP(text) === 4 ? 32 : 128);
      const network = parseNetwork(`${text}/${bits}`);
      holds(
        network !== undefined && inNetwork(text, network),
        `an address outside of its own /${bits}`,
        text,
      );
    }
  },
};
