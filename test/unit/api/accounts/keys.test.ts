// @proves api-keys

import { expect } from 'chai';
import fc from 'fast-check';
import {
  createAccountId,
  createKeyText,
  hashKey,
  hashKeyByEach,
  isTestKey,
  KEY_LENGTH,
  parseKey,
  randomBase62,
} from '../../../../api/accounts/keys.ts';

const GOOD = createKeyText('Account001');
const replaceAt = (text: string, at: number, character: string) =>
  text.slice(0, at) + character + text.slice(at + 1);

describe('an API key', () => {
  it('contains the ID of its account', () => {
    expect(GOOD).to.match(/^pressroom_live_Account001[0-9A-Za-z]{28}$/);
    expect(parseKey(GOOD)).to.equal('Account001');
  });

  it('shows in its prefix whether it is a test key, and has the same length', () => {
    const test = createKeyText('Account001', true);
    expect(test).to.match(/^pressroom_test_Account001[0-9A-Za-z]{28}$/);
    expect(test).to.have.length(KEY_LENGTH);
    expect(parseKey(test)).to.equal('Account001');
    expect([test, GOOD].map(isTestKey)).to.deep.equal([true, false]);
    expect(parseKey(test.replace('test', 'live')), 'the checksum covers it').to.equal(undefined);
  });

  it('has a checksum that other programs can compute', () => {
    // zlib's CRC-32 of the text before it, in base 62 with the digits 0-9A-Za-z.
    expect(parseKey('pressroom_live_0123456789ABCDEFGHIJKLMNOPQRSTUV3Rg7Bh')).to.equal(
      '0123456789',
    );
  });

  const wrong: [string, string][] = [
    ['is empty', ''],
    ['is only the prefix', 'pressroom_live_'],
    ['is one character too short', GOOD.slice(0, -1)],
    ['is one character too long', `${GOOD}0`],
    ['is followed by a line break', `${GOOD}\n`],
    ['has a line break as its last character', `${GOOD.slice(0, -1)}\n`],
    ['begins with a space', ` ${GOOD.slice(1)}`],
    ['has another prefix', GOOD.replace('live', 'fake')],
    ['has the prefix of a test key', GOOD.replace('live', 'test')],
    ['has an uppercase prefix', GOOD.replace('pressroom', 'PRESSROOM')],
    ['has a character outside base 62', replaceAt(GOOD, 20, '-')],
    ['has a Cyrillic letter', replaceAt(GOOD, 20, 'а')],
    ['has a NUL', replaceAt(GOOD, 20, '\0')],
    ['has a wrong checksum', replaceAt(GOOD, KEY_LENGTH - 1, GOOD.endsWith('0') ? '1' : '0')],
    ['has half a million characters', GOOD.repeat(10_000)],
  ];
  for (const [what, text] of wrong)
    it(`is rejected when it ${what}`, () => expect(parseKey(text)).to.equal(undefined));

  it('is rejected when any one character is changed', () => {
    for (let at = 0; at < KEY_LENGTH; at += 1) {
      for (const character of '0aZ') {
        if (GOOD[at] !== character)
          expect(parseKey(replaceAt(GOOD, at, character)), `at ${at}`).to.equal(undefined);
      }
    }
  });

  it('is parsed for any account, and random text is never accepted as a key', () => {
    fc.assert(
      fc.property(fc.constant(null).map(createAccountId), id => parseKey(createKeyText(id)) === id),
    );
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 80 }),
        text => parseKey(text) === undefined,
      ),
    );
    const almost = fc.stringMatching(/^pressroom_(?:live|test)_[0-9A-Za-z]{38}$/);
    fc.assert(
      fc.property(almost, text => parseKey(text) === undefined),
      { numRuns: 2_000 },
    );
  });

  it('is unique and uses all characters equally often', () => {
    expect(new Set(Array.from({ length: 1_000 }, () => createKeyText('Account001'))).size).to.equal(
      1_000,
    );
    const counts = new Map<string, number>();
    for (const character of randomBase62(62_000))
      counts.set(character, (counts.get(character) ?? 0) + 1);
    expect(counts.size).to.equal(62);
    // Expected: 1,000 of each with a standard deviation of 31. With modulo bias (256 values onto
    // 62) eight characters would appear 1,210 times.
    for (const [character, count] of counts) expect(count, character).to.be.within(830, 1_170);
  });

  it('is stored as an HMAC with the first pepper and found with each pepper', () => {
    expect(hashKey(GOOD, 'one')).to.not.equal(hashKey(GOOD, 'two'));
    expect(hashKey('key', 'pepper')).to.equal('I-Sdt3IVSKyKod_M56kx9XsEX7G3K_RMHu-p9gp7w_g');
    expect(hashKeyByEach(GOOD, ['new', 'old'])).to.deep.equal([
      hashKey(GOOD, 'new'),
      hashKey(GOOD, 'old'),
    ]);
  });
});
