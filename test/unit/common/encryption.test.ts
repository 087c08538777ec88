import { expect } from 'chai';
import { createDigest, createEncryption } from '../../../common/encryption.ts';

const SECRET = 'a secret of the tests, long enough';

describe('encryption', () => {
  const encryption = createEncryption(SECRET, 'a purpose');

  it('decrypts any text', () => {
    for (const text of ['', 'a', 'Grüße, 世界 🙂', 'x'.repeat(10_000)])
      expect(encryption.decrypt(encryption.encrypt(text))).to.equal(text);
  });

  it('encrypts the same text differently each time', () => {
    expect(encryption.encrypt('a')).not.to.equal(encryption.encrypt('a'));
  });

  it('decrypts nothing of another secret, purpose or user', () => {
    const encrypted = encryption.encrypt('a', 'usr_1');
    expect(encryption.decrypt(encrypted, 'usr_1')).to.equal('a');
    expect(encryption.decrypt(encrypted, 'usr_2')).to.equal(undefined);
    expect(encryption.decrypt(encrypted)).to.equal(undefined);
    expect(createEncryption(SECRET, 'another purpose').decrypt(encrypted, 'usr_1')).to.equal(
      undefined,
    );
    expect(createEncryption(`${SECRET}!`, 'a purpose').decrypt(encrypted, 'usr_1')).to.equal(
      undefined,
    );
  });

  it('decrypts nothing that was modified or truncated', () => {
    const encrypted = Buffer.from(encryption.encrypt('something'), 'base64url');
    for (let at = 0; at < encrypted.length; at += 1) {
      const changed = Buffer.from(encrypted);
      changed[at]! ^= 1;
      expect(encryption.decrypt(changed.toString('base64url')), `byte ${at}`).to.equal(undefined);
    }
    for (let length = 0; length < encrypted.length; length += 1)
      expect(encryption.decrypt(encrypted.subarray(0, length).toString('base64url'))).to.equal(
        undefined,
      );
  });

  it('decrypts what earlier releases stored', () => {
    const stored = 'qxQKjDKVokC_pNCl-DRdt2M4t0oLa4edjaR9xT-D71HSOy8mGg';
    expect(encryption.decrypt(stored, 'usr_1')).to.equal('something');
  });

  it('works with secrets of any length', () => {
    const long = createEncryption('s'.repeat(5_000), 'a purpose');
    expect(long.decrypt(long.encrypt('a'))).to.equal('a');
  });
});

describe('the keyed digest', () => {
  it('depends on the boundaries between the parts', () => {
    const digest = createDigest(SECRET, 'a purpose');
    expect(digest('ab', 'c')).to.equal(createDigest(SECRET, 'a purpose')('ab', 'c'));
    expect(
      new Set([
        digest('ab', 'c'),
        digest('a', 'bc'),
        digest('abc'),
        createDigest(SECRET, 'b')('ab', 'c'),
      ]).size,
    ).to.equal(4);
  });
});
