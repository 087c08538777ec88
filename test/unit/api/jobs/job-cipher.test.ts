import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { createJobCipher, openChunks, sealChunks } from '../../../../api/jobs/job-cipher.ts';
import { CHUNK_BYTES } from '../../../../api/store/stored-chunks.ts';

const SECRET = 'a secret of the tests, long enough';
const FILE = 'rnd_1/request';
const CANNOT = 'a chunk of a stored file cannot be decrypted';

describe('the key of a job', () => {
  const cipher = createJobCipher(SECRET);
  const { key, wrapped } = cipher.createKey('rnd_1');

  it('has 256 bits and can be unwrapped by another process with the same secret', () => {
    expect(key.length).to.equal(32);
    expect(createJobCipher(SECRET).unwrapKey(wrapped, 'rnd_1')!.equals(key)).to.equal(true);
  });

  it('differs between two jobs', () => {
    expect(cipher.createKey('rnd_1').key.equals(key)).to.equal(false);
  });

  it('cannot be unwrapped with another secret or for another job', () => {
    expect(createJobCipher(`${SECRET}!`).unwrapKey(wrapped, 'rnd_1')).to.equal(undefined);
    expect(cipher.unwrapKey(wrapped, 'rnd_2')).to.equal(undefined);
  });

  it('cannot be unwrapped when a byte has changed', () => {
    const bytes = Buffer.from(wrapped, 'base64url');
    for (let at = 0; at < bytes.length; at += 1) {
      const changed = Buffer.from(bytes);
      changed[at]! ^= 1;
      const text = changed.toString('base64url');
      expect(cipher.unwrapKey(text, 'rnd_1'), `byte ${at}`).to.equal(undefined);
    }
    for (const text of ['', 'x', wrapped.slice(0, -4)])
      expect(cipher.unwrapKey(text, 'rnd_1')).to.equal(undefined);
  });
});

describe('sealed chunks', () => {
  const { key } = createJobCipher(SECRET).createKey('rnd_1');
  const seal = (chunks: Buffer[], fileId = FILE) =>
    chunks.map((chunk, n) => sealChunks(key, fileId)(chunk, n, n === chunks.length - 1));
  const open = (sealed: Buffer[], { fileId = FILE, by = key } = {}) =>
    sealed.map((chunk, n) => openChunks(by, fileId)(chunk, n, n === sealed.length - 1));
  const plain = ['one', 'two', 'three'].map(text => Buffer.from(text));

  it('open to the chunks of any size, without revealing them', () => {
    for (const size of [0, 1, CHUNK_BYTES - 1, CHUNK_BYTES]) {
      const chunk = Buffer.alloc(size, 'Pressroom');
      const [sealed] = seal([chunk]);
      expect(sealed!.length).to.equal(size + 28);
      expect(sealed!.includes('Pressroom')).to.equal(false);
      expect(open([sealed!])[0]!.equals(chunk), `${size} bytes`).to.equal(true);
    }
    expect(open(seal(plain))).to.deep.equal(plain);
  });

  it('differ for equal chunks', () => {
    const [one, two] = seal([plain[0]!, plain[0]!]);
    expect(one!.equals(two!)).to.equal(false);
  });

  it('cannot be opened when a byte has changed or is missing', () => {
    const [sealed] = seal([plain[0]!]);
    for (let at = 0; at < sealed!.length; at += 1) {
      const changed = Buffer.from(sealed!);
      changed[at]! ^= 1;
      expect(() => open([changed]), `byte ${at}`).to.throw(CANNOT);
      expect(() => open([sealed!.subarray(0, at)]), `${at} bytes`).to.throw(CANNOT);
    }
  });

  it('cannot be reordered', () => {
    const [one, two, three] = seal(plain);
    for (const order of [
      [two!, one!, three!],
      [one!, three!, two!],
      [one!, one!, three!],
    ])
      expect(() => open(order)).to.throw(CANNOT);
  });

  it('cannot be dropped or added at the end', () => {
    const [one, two, three] = seal(plain);
    expect(() => open([one!, two!])).to.throw(CANNOT);
    expect(() => open([one!])).to.throw(CANNOT);
    expect(() => open([one!, two!, three!, three!])).to.throw(CANNOT);
  });

  it('cannot be opened as those of another file', () => {
    const sealed = seal(plain, 'rnd_1/pdf/1');
    expect(open(sealed, { fileId: 'rnd_1/pdf/1' })).to.deep.equal(plain);
    for (const fileId of ['rnd_1/pdf/2', 'rnd_1/pdf/11', 'rnd_1/request', ''])
      expect(() => open(sealed, { fileId })).to.throw(CANNOT);
  });

  it('cannot be opened with the key of another job', () => {
    expect(() => open(seal(plain), { by: randomBytes(32) })).to.throw(CANNOT);
  });
});
