// The keys of the OAuth server: the same for all processes, sealed in the database.
import { expect } from 'chai';
import { oauthKeys } from '../../api/console/oauth/keys.ts';
import { connectStore, type Store } from '../../api/store/store.ts';
import { silentLog } from '../../common/log.ts';
import { testDatabase } from '../support/mongod.ts';

const SECRET = 'a secret of the tests, long enough';

describe('the keys of the OAuth server', () => {
  let store: Store;
  beforeEach(async () => {
    store = connectStore({ uri: (await testDatabase()).uri, operationTimeoutMs: 5_000 }, silentLog);
    await store.start();
  });
  afterEach(() => store.stop(new AbortController().signal));

  it('are made once, however many processes start at the same moment', async () => {
    const all = await Promise.all(Array.from({ length: 8 }, () => oauthKeys(store, SECRET, silentLog)));
    for (const keys of all) expect(keys).to.deep.equal(all[0]);
    expect(await oauthKeys(store, SECRET, silentLog)).to.deep.equal(all[0]);
  });

  it('stand in the database sealed', async () => {
    const { cookies, jwks } = await oauthKeys(store, SECRET, silentLog);
    const stored = JSON.stringify(await store.meta.findOne({ _id: 'oauth' }));
    expect(stored).not.to.include(cookies[0]).and.not.include(String(jwks[0]!['d'])).and.not.include('cookies');
  });

  it('are made anew when the secret is another one', async () => {
    const before = await oauthKeys(store, SECRET, silentLog);
    const after = await oauthKeys(store, 'another secret of the tests', silentLog);
    expect(after.cookies).not.to.deep.equal(before.cookies);
    expect(await oauthKeys(store, 'another secret of the tests', silentLog)).to.deep.equal(after);
  });
});
