// @proves refresh-tokens
// The storage of the OAuth server: single use under concurrency, expiry, and encryption with the
// installation's secret.
import { expect } from 'chai';
import { createAdapter } from '../../../api/console/oauth/adapter.ts';
import { createOAuthLimits } from '../../../api/console/oauth/oauth-limits.ts';
import { createRefreshTokens } from '../../../api/console/oauth/refresh-tokens.ts';
import { connectStore, type Store } from '../../../api/store/store.ts';
import { createEncryption } from '../../../common/encryption.ts';
import { silentLog } from '../../../common/log.ts';
import { testDatabase } from '../../support/servers/mongod.ts';

const SECRET = 'a secret for tests, long enough';

describe('the storage of the OAuth server', () => {
  let store: Store;
  let nowMs: number;
  let ended: string[];
  let repeated: number;
  const { idOf } = createRefreshTokens(SECRET);
  beforeEach(async () => {
    store = connectStore({ uri: (await testDatabase()).uri, operationTimeoutMs: 5_000 }, silentLog);
    await store.start();
    nowMs = Date.now();
    ended = [];
    repeated = 0;
  });
  afterEach(() => store.stop(new AbortController().signal));

  const adapter = (kind: string, secret = SECRET) =>
    createAdapter(
      {
        store,
        encryption: createEncryption(secret, 'oauth'),
        refreshTokens: { idOf },
        keepGrant: async () => {},
        endGrant: async grantId => {
          ended.push(grantId);
        },
        alreadyUsed: () => new Error('already used'),
        onRepeated: () => {
          repeated += 1;
        },
      },
      () => nowMs,
    )(kind);

  it('allows one of several concurrent uses of a code, and ends the consent', async () => {
    const codes = adapter('AuthorizationCode');
    await codes.upsert('a code', { grantId: 'a grant', jti: 'a code' }, 60);
    const uses = await Promise.allSettled(Array.from({ length: 5 }, () => codes.consume('a code')));
    expect(uses.filter(({ status }) => status === 'fulfilled')).to.have.length(1);
    expect(ended).to.deep.equal(['a grant', 'a grant', 'a grant', 'a grant']);
    expect((await codes.find('a code'))!['consumed']).to.be.closeTo(nowMs / 1_000, 1);
  });

  describe('for refresh tokens', () => {
    const [first, second] = [idOf('a grant', 0), idOf('a grant', 1)];
    const storeToken = (rotations: number) =>
      adapter('RefreshToken').upsert(
        idOf('a grant', rotations),
        { grantId: 'a grant', rotations },
        30 * 86_400,
      );
    const use = (id: string) =>
      adapter('RefreshToken')
        .consume(id)
        .then(
          () => 'accepted',
          () => 'rejected',
        );
    const isUsed = async (id: string) => 'consumed' in (await adapter('RefreshToken').find(id))!;
    beforeEach(() => storeToken(0));

    it('accepts a repeated use for one minute while its successor is unused', async () => {
      expect(await use(first)).to.equal('accepted');
      await storeToken(1);
      nowMs += 59_000;
      expect(await isUsed(first)).to.equal(false);
      expect(await use(first)).to.equal('accepted');
      nowMs += 1_000;
      expect(await isUsed(first)).to.equal(true);
      expect(await use(first)).to.equal('rejected');
      expect([ended, repeated]).to.deep.equal([['a grant'], 1]);
    });

    it('rejects a repeated use after its successor was used, and ends the consent', async () => {
      await use(first);
      await storeToken(1);
      await use(second);
      expect(await isUsed(first)).to.equal(true);
      expect(await use(first)).to.equal('rejected');
      expect(ended).to.deep.equal(['a grant']);
    });

    it('accepts a repeated use at any time when it has no successor', async () => {
      await use(first);
      nowMs += 3600e3;
      expect(await isUsed(first)).to.equal(false);
      expect(await use(first)).to.equal('accepted');
      expect(ended).to.deep.equal([]);
    });

    it('derives one token for each consent and rotation from the secret', () => {
      const ids = [
        idOf('a grant', 0),
        idOf('a grant', 1),
        idOf('another', 0),
        createRefreshTokens('another secret').idOf('a grant', 0),
      ];
      expect(new Set(ids).size).to.equal(4);
      for (const id of ids) expect(id).to.match(/^[\w-]{43}$/);
    });
  });

  it('finds documents by kind until they expire', async () => {
    await adapter('AccessToken').upsert('x', { jti: 'x', 'a.b': { $c: 1 } }, 60);
    expect(await adapter('AccessToken').find('x')).to.deep.equal({ jti: 'x', 'a.b': { $c: 1 } });
    expect(await adapter('RefreshToken').find('x')).to.equal(undefined);
    nowMs += 61_000;
    expect(await adapter('AccessToken').find('x')).to.equal(undefined);
  });

  it('does not decrypt a payload of another secret or another document', async () => {
    const tokens = adapter('AccessToken');
    await tokens.upsert('x', { jti: 'x' }, 60);
    await tokens.upsert('y', { jti: 'y' }, 60);
    expect(await adapter('AccessToken', 'another secret for tests').find('x')).to.equal(undefined);
    const [one, other] = await store.console.oauth.find().toArray();
    await store.console.oauth.updateOne({ _id: one!._id }, { $set: { payload: other!.payload } });
    expect([await tokens.find('x'), await tokens.find('y')].filter(Boolean)).to.have.length(1);
  });

  it('limits the calls of an address per hour, with an IPv6 /64 as one address', async () => {
    const limit = createOAuthLimits(store, SECRET, () => nowMs);
    for (let n = 0; n < 120; n += 1)
      expect(await limit('document', `2001:db8::${n.toString(16)}`)).to.equal(undefined);
    expect(await limit('document', '2001:db8::ffff')).to.equal(3_600);
    expect(await limit('document', '2001:db8:0:1::1')).to.equal(undefined);
    expect(await limit('registration', '2001:db8::1')).to.equal(undefined);
    nowMs += 3_601_000;
    expect(await limit('document', '2001:db8::1')).to.equal(undefined);
  });
});
