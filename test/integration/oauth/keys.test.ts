// @proves oauth-key-rotation, oauth-replicas
// The keys of the OAuth server: shared by all processes, encrypted in the database, and rotated
// without an interruption.
import { expect } from 'chai';
import {
  keysInUse,
  oauthKeys,
  readOAuthKeys,
  rotateOAuthKeys,
} from '../../../api/console/oauth/keys.ts';
import { connectStore, type Store } from '../../../api/store/store.ts';
import { silentLog } from '../../../common/log.ts';
import { testDatabase } from '../../support/servers/mongod.ts';

const SECRET = 'a secret for tests, long enough';
const MINUTE_MS = 60_000;

describe('the keys of the OAuth server', () => {
  let store: Store;
  let nowMs: number;
  beforeEach(async () => {
    store = connectStore({ uri: (await testDatabase()).uri, operationTimeoutMs: 5_000 }, silentLog);
    await store.start();
    nowMs = Date.now();
  });
  afterEach(() => store.stop(new AbortController().signal));

  const now = () => nowMs;
  const keys = (secret = SECRET) => oauthKeys(store, secret, silentLog, now);
  const rotate = (secret = SECRET) => rotateOAuthKeys(store, secret, now);
  const cookies = async (atMs = nowMs) => keysInUse(await keys(), atMs).cookies;

  it('are created once when several processes start concurrently', async () => {
    const all = await Promise.all(Array.from({ length: 8 }, () => keys()));
    for (const each of all) expect(each).to.deep.equal(all[0]);
    expect(await keys()).to.deep.equal(all[0]);
  });

  it('are encrypted in the database', async () => {
    const [key] = await keys();
    const stored = JSON.stringify(await store.meta.findOne({ _id: 'oauth' }));
    expect(stored)
      .not.to.include(key!.cookie)
      .and.not.include(String(key!.jwk['d']))
      .and.not.include('cookie');
  });

  it('are created again with another secret', async () => {
    const before = await keys();
    expect(await readOAuthKeys(store, 'another secret for tests')).to.equal(undefined);
    const after = await keys('another secret for tests');
    expect(after[0]!.cookie).not.to.equal(before[0]!.cookie);
    expect(await keys('another secret for tests')).to.deep.equal(after);
  });

  it('are accepted at once after a rotation, and sign when every process has read them', async () => {
    const [old] = await cookies();
    const rotation = await rotate();
    const published = await cookies();
    expect(published).to.have.length(2);
    expect(published[0]).to.equal(old);
    const { signsFrom } = rotation as Exclude<typeof rotation, string>;
    expect(signsFrom.getTime() - nowMs).to.be.at.least(2 * MINUTE_MS);
    expect(await cookies(signsFrom.getTime())).to.deep.equal([published[1], old]);
  });

  it('remain for the longest pending consent, and are then deleted', async () => {
    const [old] = await cookies();
    const { signsFrom, oldUntil } = (await rotate()) as { signsFrom: Date; oldUntil: Date };
    expect(oldUntil.getTime() - signsFrom.getTime()).to.be.at.least(61 * MINUTE_MS);
    expect(await cookies(oldUntil.getTime() - 1)).to.include(old);
    expect(await cookies(oldUntil.getTime())).not.to.include(old);
    nowMs = oldUntil.getTime();
    expect(await rotate()).to.include({ dropped: 1 });
    expect(await keys()).to.have.length(2);
  });

  it('are all kept by concurrent rotations', async () => {
    await keys();
    const rotations = await Promise.all(Array.from({ length: 6 }, () => rotate()));
    expect(rotations.every(rotation => typeof rotation !== 'string')).to.equal(true);
    expect(new Set((await keys()).map(({ cookie }) => cookie)).size).to.equal(7);
  });

  it('are not rotated with another secret, nor before they exist', async () => {
    expect(await rotate()).to.equal('none');
    const before = await keys();
    expect(await rotate('another secret for tests')).to.equal('other secret');
    expect(await keys()).to.deep.equal(before);
  });
});
