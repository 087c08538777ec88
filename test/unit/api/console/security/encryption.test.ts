import { expect } from 'chai';
import { createDigest, createSeal } from '../../../../../api/console/security/encryption.ts';

const SECRET = 'a secret of the tests, long enough';

describe('sealing', () => {
  const seal = createSeal(SECRET, 'a purpose');

  it('gives back what was sealed, whatever letters it has', () => {
    for (const text of ['', 'a', 'Grüße, 世界 🙂', 'x'.repeat(10_000)]) expect(seal.open(seal.seal(text))).to.equal(text);
  });

  it('never seals the same in the same way', () => {
    expect(seal.seal('a')).not.to.equal(seal.seal('a'));
  });

  it('opens nothing of another secret, purpose or owner', () => {
    const sealed = seal.seal('a', 'usr_1');
    expect(seal.open(sealed, 'usr_1')).to.equal('a');
    expect(seal.open(sealed, 'usr_2')).to.equal(undefined);
    expect(seal.open(sealed)).to.equal(undefined);
    expect(createSeal(SECRET, 'another purpose').open(sealed, 'usr_1')).to.equal(undefined);
    expect(createSeal(`${SECRET}!`, 'a purpose').open(sealed, 'usr_1')).to.equal(undefined);
  });

  it('opens nothing of which one bit was changed, or a piece is missing', () => {
    const sealed = Buffer.from(seal.seal('something'), 'base64url');
    for (let at = 0; at < sealed.length; at += 1) {
      const changed = Buffer.from(sealed);
      changed[at]! ^= 1;
      expect(seal.open(changed.toString('base64url')), `byte ${at}`).to.equal(undefined);
    }
    for (let length = 0; length < sealed.length; length += 1)
      expect(seal.open(sealed.subarray(0, length).toString('base64url'))).to.equal(undefined);
  });

  it('works with secrets of any length', () => {
    const long = createSeal('s'.repeat(5_000), 'a purpose');
    expect(long.open(long.seal('a'))).to.equal('a');
  });
});

describe('the digest of what is counted', () => {
  it('is the same for the same parts, and another for parts that are cut otherwise', () => {
    const digest = createDigest(SECRET, 'a purpose');
    expect(digest('ab', 'c')).to.equal(createDigest(SECRET, 'a purpose')('ab', 'c'));
    expect(new Set([digest('ab', 'c'), digest('a', 'bc'), digest('abc'), createDigest(SECRET, 'b')('ab', 'c')]).size).to.equal(4);
  });
});
