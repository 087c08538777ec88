import { createHash, randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { openChunks, sealChunks } from '../../../api/jobs/job-cipher.ts';
import { connectStore, DatabaseTimeout, type Store } from '../../../api/store/store.ts';
import {
  CHUNK_BYTES,
  type ChunkTransform,
  StoredChunks,
} from '../../../api/store/stored-chunks.ts';
import { silentLog } from '../../../common/log.ts';
import { testDatabase } from '../../support/servers/mongod.ts';

const never = new AbortController().signal;
const expiresAt = new Date(Date.now() + 3_600e3);
const reasonOf = (work: Promise<unknown>): Promise<Error> =>
  work.then(
    () => expect.fail('it did not fail'),
    error => error,
  );

describe('chunks of stored files', () => {
  let store: Store;
  let chunks: StoredChunks;
  before(async () => {
    store = connectStore({ uri: (await testDatabase()).uri, operationTimeoutMs: 5_000 }, silentLog);
    await store.start();
    chunks = new StoredChunks(store);
  });
  after(() => store.stop(never));

  const countOf = (fileId: string) =>
    store.console.storedPdfChunks.countDocuments({ files_id: fileId });
  async function readAll(fileId: string, length: number, open?: ChunkTransform): Promise<Buffer> {
    const pieces: Buffer[] = [];
    for await (const piece of chunks.read(fileId, length, open)) pieces.push(piece);
    return Buffer.concat(pieces);
  }

  it('are read as they were written, with and without encryption', async () => {
    const key = randomBytes(32);
    for (const times of [0, 1, 2, 3, 16])
      for (const more of [-1, 0, 1]) {
        const length = times * CHUNK_BYTES + more;
        if (length < 1) continue;
        const bytes = randomBytes(length);
        const [open, sealed] = [`${length}/open`, `${length}/sealed`];
        await chunks.write(open, bytes, { expiresAt });
        await chunks.write(sealed, bytes, { expiresAt, transform: sealChunks(key, sealed) });
        expect(await countOf(sealed)).to.equal(Math.ceil(length / CHUNK_BYTES));
        const decrypted = await readAll(sealed, length, openChunks(key, sealed));
        expect((await readAll(open, length)).equals(bytes), open).to.equal(true);
        expect(decrypted.equals(bytes), sealed).to.equal(true);
      }
  });

  it('cannot be written for an empty file', async () => {
    const written = chunks.write('empty', Buffer.alloc(0), { expiresAt });
    expect(await reasonOf(written)).to.be.instanceOf(RangeError);
  });

  it('have their own expiry', async () => {
    await chunks.write('expiring', Buffer.alloc(CHUNK_BYTES + 1), { expiresAt });
    const found = await store.console.storedPdfChunks.find({ files_id: 'expiring' }).toArray();
    expect(found.map(chunk => chunk.expiresAt)).to.deep.equal([expiresAt, expiresAt]);
  });

  it('are all reported before what describes the file is written', async () => {
    const bytes = randomBytes(17 * CHUNK_BYTES);
    const hash = createHash('sha256');
    let described = '';
    await chunks.write('described', bytes, {
      expiresAt,
      transform: sealChunks(randomBytes(32), 'described'),
      onChunk: chunk => hash.update(chunk),
      withLast: async () => {
        described = hash.digest('hex');
      },
    });
    expect(described).to.equal(createHash('sha256').update(bytes).digest('hex'));
  });

  it('are written before the failure of what describes the file is reported', async () => {
    const failing = chunks.write('undescribed', Buffer.alloc(3 * CHUNK_BYTES), {
      expiresAt,
      withLast: () => Promise.reject(new Error('not described')),
    });
    expect((await reasonOf(failing)).message).to.equal('not described');
    expect(await countOf('undescribed')).to.equal(3);
  });

  it('are written only until the signal aborts', async () => {
    const leaving = new AbortController();
    const writing = chunks.write('aborted', Buffer.alloc(40 * CHUNK_BYTES), {
      expiresAt,
      signal: leaving.signal,
    });
    leaving.abort(new Error('disconnected'));
    expect((await reasonOf(writing)).message).to.equal('disconnected');
    expect(await countOf('aborted')).to.be.at.most(16);
  });

  it('end with an error when one is missing, changed or moved', async () => {
    const key = randomBytes(32);
    const length = 2 * CHUNK_BYTES + 1;
    const { storedPdfChunks } = store.console;
    for (const fileId of ['one', 'two'])
      await chunks.write(fileId, randomBytes(length), {
        expiresAt,
        transform: sealChunks(key, fileId),
      });
    const read = (bytes = length) => readAll('one', bytes, openChunks(key, 'one'));
    expect((await read()).length).to.equal(length);
    expect((await reasonOf(read(2 * CHUNK_BYTES))).message).to.include('cannot be decrypted');
    const moved = await storedPdfChunks.findOne({ files_id: 'two', n: 1 });
    await storedPdfChunks.updateOne({ files_id: 'one', n: 1 }, { $set: { data: moved!.data } });
    expect((await reasonOf(read())).message).to.include('cannot be decrypted');
    await storedPdfChunks.deleteOne({ files_id: 'one', n: 1 });
    expect((await reasonOf(read())).message).to.include('is missing');
  });

  it('are removed for the given files only', async () => {
    for (const fileId of ['a/request', 'a/pdf/1', 'b/request'])
      await chunks.write(fileId, Buffer.from('x'), { expiresAt });
    await chunks.remove('a/request', 'a/pdf/1', 'a/pdf/2');
    expect(await Promise.all(['a/request', 'a/pdf/1', 'b/request'].map(countOf))).to.deep.equal([
      0, 0, 1,
    ]);
  });

  it('reject with the error of the store while the database is unavailable, except removal', async () => {
    const down = new DatabaseTimeout(1);
    const unreachable = new StoredChunks({
      ...store,
      limited: operation => operation.then(() => Promise.reject(down)),
    });
    const written = unreachable.write('down', Buffer.from('x'), { expiresAt });
    expect(await reasonOf(written)).to.equal(down);
    expect(await reasonOf(unreachable.read('down', 1).next())).to.equal(down);
    await unreachable.remove('down');
  });
});
