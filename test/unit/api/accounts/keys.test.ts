// @proves api-keys

import { expect } from 'chai';
import fc from 'fast-check';
import {
  createAccountId,
  createKeyText,
  hashKey,
  hashKeyByEach,
  KEY_LENGTH,
  parseKey,
  randomBase62,
} from '../../../../api/accounts/keys.ts';

const GOOD = createKeyText('Account001');
const replaceAt = (text: string, at: number, character: string) =>
  text.slice(0, at) + character + text.slice(at + 1);

describe('an API key', () => {
  it('carries the id of its account', () => {
    expect(GOOD).to.match(/^pressroom_live_Account001[0-9A-Za-z]{28}$/);
    expect(parseKey(GOOD)).to.equal('Account001');
  });

  it('has a checksum that other programs can compute', () => {
    // CRC-32 of the text before it, as zlib computes it, in base 62 with the digits 0-9A-Za-z.
    expect(parseKey('pressroom_live_0123456789ABCDEFGHIJKLMNOPQRSTUV3Rg7Bh')).to.equal(
      '0123456789',
    );
  });

  const wrong: [string, string][] = [
    ['nothing', ''],
    ['the prefix alone', 'pressroom_live_'],
    ['one character less', GOOD.slice(0, -1)],
    ['one character more', `${GOOD}0`],
    ['a line break behind', `${GOOD}\n`],
    ['a line break for its last character', `${GOOD.slice(0, -1)}\n`],
    ['a space before', ` ${GOOD.slice(1)}`],
    ['another prefix', GOOD.replace('live', 'test')],
    ['a prefix in capitals', GOOD.replace('pressroom', 'PRESSROOM')],
    ['a character outside base 62', replaceAt(GOOD, 20, '-')],
    ['a letter of another alphabet', replaceAt(GOOD, 20, 'а')],
    ['a NUL', replaceAt(GOOD, 20, '\0')],
    ['a changed checksum', replaceAt(GOOD, KEY_LENGTH - 1, GOOD.endsWith('0') ? '1' : '0')],
    ['half a million characters', GOOD.repeat(10_000)],
  ];
  for (const [what, text] of wrong)
    it(`is refused with ${what}`, () => expect(parseKey(text)).to.equal(undefined));

  it('is refused with any one character changed', () => {
    for (let at = 0; at < KEY_LENGTH; at += 1) {
      for (const character of '0aZ') {
        if (GOOD[at] !== character)
          expect(parseKey(replaceAt(GOOD, at, character)), `at ${at}`).to.equal(undefined);
      }
    }
  });

  it('is parsed for whatever account it is made, and nothing else is taken for one', () => {
    fc.assert(
      fc.property(fc.constant(null).map(createAccountId), id => parseKey(createKeyText(id)) === id),
    );
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 80 }),
        text => parseKey(text) === undefined,
      ),
    );
    const almost = fc.stringMatching(/^pressroom_live_[0-9A-Za-z]{38}$/);
    fc.assert(
      fc.property(almost, text => parseKey(text) === undefined),
      { numRuns: 2_000 },
    );
  });

  it('is never made twice and uses every character evenly', () => {
    expect(new Set(Array.from({ length: 1_000 }, () => createKeyText('Account001'))).size).to.equal(
      1_000,
    );
    const counts = new Map<string, number>();
    for (const character of randomBase62(62_000))
      counts.set(character, (counts.get(character) ?? 0) + 1);
    expect(counts.size).to.equal(62);
    // 1,000 of each are expected with a deviation of 31; folding 256 values onto 62 would give
    // eight of them 1,210.
    for (const [character, count] of counts) expect(count, character).to.be.within(830, 1_170);
  });

  it('is stored as an HMAC by the first pepper and found by each', () => {
    expect(hashKey(GOOD, 'one')).to.not.equal(hashKey(GOOD, 'two'));
    expect(hashKey('key', 'pepper')).to.equal('I-Sdt3IVSKyKod_M56kx9XsEX7G3K_RMHu-p9gp7w_g');
    expect(hashKeyByEach(GOOD, ['new', 'old'])).to.deep.equal([
      hashKey(GOOD, 'new'),
      hashKey(GOOD, 'old'),
    ]);
  });
});
