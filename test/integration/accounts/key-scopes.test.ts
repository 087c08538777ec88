// @proves key-scopes, test-keys

import { expect } from 'chai';
import { type Accepted, createAcceptedKeys } from '../../../api/accounts/accepted-keys.ts';
import { AccountKeys, type CreatedKey, type NewKey } from '../../../api/accounts/account-keys.ts';
import { createKeyText, hashKey } from '../../../api/accounts/keys.ts';
import {
  type LeaseFixture,
  leaseFixture,
  PEPPERS,
  plans,
  rejectionOf,
  type TestAccount,
} from '../../support/lease-fixture.ts';

const IP = '192.0.2.1';
const DAY_MS = 86_400_000;
const TEST: Partial<NewKey> = { test: true };
const READ_ONLY: Partial<NewKey> = { scopes: ['read'] };
const KINDS: [string, Partial<NewKey>][] = [
  ['a test key', TEST],
  ['a read-only key', READ_ONLY],
];

describe('scopes of API keys and test keys', () => {
  let fixture: LeaseFixture;
  let keys: AccountKeys;
  let account: TestAccount;
  before(async () => {
    fixture = await leaseFixture();
    keys = new AccountKeys(fixture.store, PEPPERS);
  });
  beforeEach(async () => {
    account = await fixture.account('starter');
  });
  afterEach(() => fixture.reset());
  after(() => fixture?.close());

  const create = (settings: Partial<NewKey> = {}): Promise<CreatedKey> =>
    keys.create(account.id, { name: 'key', ...settings });
  const checker = () =>
    createAcceptedKeys(fixture.store, {
      plans,
      peppers: PEPPERS,
      pastDueGraceMs: 60_000,
      dashboardUrl: 'http://localhost/app',
      billing: 'manual',
    });
  const callerOf = ({ text }: CreatedKey) => ({
    ...account.caller,
    keyHash: [hashKey(text, PEPPERS[0]!)],
  });
  const expectUnauthorized = async (work: Promise<unknown>, message: string) => {
    const error = await rejectionOf(work);
    expect(error.code).to.equal('unauthorized');
    expect(error.headers).to.include({ 'WWW-Authenticate': 'Bearer' });
    expect(error.message).to.contain(message);
  };

  it('are both scopes by default, without duplicates and in one order', async () => {
    expect((await create()).key.scopes).to.deep.equal(['render', 'read']);
    expect((await create({ scopes: ['read', 'render', 'read'] })).key.scopes).to.deep.equal([
      'render',
      'read',
    ]);
  });

  it('name the accepted scopes when a scope is unknown or none is given', async () => {
    for (const [scopes, message] of [
      [['write'], '`scopes`: unknown scope `write`. The scopes are render, read.'],
      [['render', ''], '`scopes`: unknown scope ``. The scopes are render, read.'],
      [[], '`scopes` must have at least one of render, read.'],
    ] as const) {
      const error = await rejectionOf(create({ scopes }));
      expect(error).to.include({ code: 'validation_error', message });
    }
    expect(await keys.list(account.id)).to.have.length(1);
  });

  it('are only `render` for a key that was stored without scopes', async () => {
    await fixture.store.accounts.updateOne(
      { _id: account.id },
      { $unset: { 'keys.0.scopes': true } },
    );
    expect((await keys.list(account.id))[0]!.scopes).to.deep.equal(['render']);
    await checker().check(account.text, IP, 'render');
    await expectUnauthorized(
      checker().check(account.text, IP, 'read'),
      'does not have the scope `read`',
    );
    await (await fixture.replica()).admit(account.caller);
  });

  for (const [what, settings] of KINDS) {
    it(`keep ${what} out of \`keys\`, where an earlier version looks`, async () => {
      const { text, key } = await create(settings);
      const stored = await account.read();
      expect(stored.keys.map(({ id }) => id)).to.deep.equal([account.key.id]);
      expect(stored.restrictedKeys!.map(({ id, hash }) => ({ id, hash }))).to.deep.equal([
        { id: key.id, hash: hashKey(text, PEPPERS[0]!) },
      ]);
      expect((await keys.list(account.id)).map(({ id }) => id)).to.deep.equal([
        account.key.id,
        key.id,
      ]);
      expect(await account.accounts.accountById(account.id)).to.include({ keys: 2 });
    });

    it(`end ${what} at once when it is revoked, although it was accepted before`, async () => {
      const made = await create({ ...settings, scopes: settings.scopes ?? ['render', 'read'] });
      const accepted = checker();
      await accepted.check(made.text, IP, 'read');
      if (settings.test) await accepted.check(made.text, IP, 'render');
      expect(await keys.revoke(account.id, made.key.id)).to.deep.equal(made.key);
      await expectUnauthorized(accepted.check(made.text, IP, 'read'), 'revoked');
      await expectUnauthorized((await fixture.replica()).admit(callerOf(made)), 'revoked');
      expect((await rejectionOf(keys.revoke(account.id, made.key.id))).code).to.equal('not_found');
      expect(await keys.list(account.id)).to.have.length(1);
      expect(await account.leaseCount()).to.equal(0);
    });

    it(`pass from ${what} to its replacement, and both work for the overlap`, async () => {
      const scopes = settings.scopes ?? ['render', 'read'];
      const expiresAt = new Date(Date.now() + DAY_MS);
      const former = await create({ ...settings, scopes, expiresAt, allowedIps: [IP] });
      const next = await keys.rotate(account.id, former.key.id, 3_600_000);
      expect(next.key.scopes).to.deep.equal(scopes);
      expect(next.key.test).to.equal(settings.test);
      expect(next.text.slice(0, 15)).to.equal(former.text.slice(0, 15));
      expect(next.former.replacedBy).to.equal(next.key.id);
      for (const { text } of [former, next]) await checker().check(text, IP, 'read');
      expect((await account.read()).restrictedKeys).to.have.length(2);
      expect((await rejectionOf(keys.rotate(account.id, former.key.id, 0))).code).to.equal(
        'conflict',
      );
      const last = await keys.rotate(account.id, next.key.id, 0);
      await expectUnauthorized(checker().check(next.text, IP, 'read'), 'revoked');
      await checker().check(last.text, IP, 'read');
    });

    it(`give no access to ${what} that has expired or is used from another address`, async () => {
      const scopes = ['read'];
      const expired = await create({ ...settings, scopes });
      await fixture.store.accounts.updateOne(
        { _id: account.id },
        { $set: { 'restrictedKeys.0.expiresAt': new Date(Date.now() - 1) } },
      );
      const elsewhere = await create({ ...settings, scopes, allowedIps: ['198.51.100.0/24'] });
      const unknown = createKeyText(account.id, settings.test);
      const texts = [expired.text, elsewhere.text, unknown];
      const errors = await Promise.all(
        texts.map(text => rejectionOf(checker().check(text, IP, 'read'))),
      );
      expect(new Set(errors.map(({ message }) => message)).size).to.equal(1);
      expect(errors[0]!.code).to.equal('unauthorized');
    });
  }

  it('share the limit of 200 keys', async () => {
    const { key } = await create(TEST);
    const hash = (nth: number) => `hash ${nth}`;
    const more = (count: number, from: number) =>
      Array.from({ length: count }, (_, nth) => ({
        ...key,
        id: `k${from + nth}`,
        hash: hash(nth),
      }));
    await fixture.store.accounts.updateOne(
      { _id: account.id },
      { $push: { keys: { $each: more(99, 0) }, restrictedKeys: { $each: more(99, 99) } } },
    );
    for (const settings of [{}, TEST, READ_ONLY])
      expect((await rejectionOf(create(settings))).message).to.contain('already has 200 API keys');
    expect((await rejectionOf(keys.rotate(account.id, key.id, DAY_MS))).message).to.contain(
      'already has 200 API keys',
    );
    await keys.rotate(account.id, key.id, 0);
  });

  it('give a read-only key no render, neither at the check nor at the admission', async () => {
    const made = await create(READ_ONLY);
    const known: Accepted[] = [];
    await expectUnauthorized(
      checker().check(made.text, IP, 'render', caller => known.push(caller)),
      'The API key does not have the scope `render`. Use a key with this scope',
    );
    expect(known, 'for the log').to.have.length(1);
    const leases = await fixture.replica();
    await expectUnauthorized(leases.admit(callerOf(made)), 'unknown, expired or revoked');
    expect(await account.leaseCount()).to.equal(0);
  });

  it('let a key read while the subscription is canceled', async () => {
    await account.accounts.setAccount(account.name, { state: 'canceled' });
    await checker().check(account.text, IP, 'read');
    expect((await rejectionOf(checker().check(account.text, IP, 'render'))).code).to.equal(
      'subscription_inactive',
    );
  });

  it('answer `unavailable` for a read without a database', async () => {
    await fixture.failCommands('find', { errorCode: 11602 });
    expect(await rejectionOf(checker().check(account.text, IP, 'read'))).to.include({
      code: 'unavailable',
    });
  });

  it('mark the lease of a test key, and no other lease', async () => {
    const made = await create(TEST);
    expect(made.text).to.match(/^pressroom_test_[0-9A-Za-z]{38}$/);
    expect(made.text).to.have.length(account.text.length);
    expect(await checker().check(made.text, IP, 'render')).to.include({ test: true });
    const leases = await fixture.replica();
    const [test, live] = [await leases.admit(callerOf(made)), await leases.admit(account.caller)];
    expect([test.sandbox, live.sandbox]).to.deep.equal([true, false]);
    expect(
      (await account.read()).leases.map(({ key, sandbox }) => ({ key, sandbox })),
    ).to.deep.equal([
      { key: made.key.id, sandbox: true },
      { key: account.key.id, sandbox: undefined },
    ]);
  });

  it('make a key a test key by its record, whatever its text is', async () => {
    await fixture.store.accounts.updateOne({ _id: account.id }, { $set: { 'keys.0.test': true } });
    expect(await checker().check(account.text, IP, 'render')).to.include({ test: true });
    expect(await (await fixture.replica()).admit(account.caller)).to.include({ sandbox: true });
  });

  it('mark the lease of a test key also when the first answer of MongoDB is lost', async () => {
    const made = await create(TEST);
    // The driver repeats the write after up to 500 ms.
    const leases = await fixture.replica({}, await fixture.connect(10_000));
    await fixture.failCommands(
      'findAndModify',
      { writeConcernError: { code: 91, errmsg: 'Replication is being shut down' } },
      { times: 1 },
    );
    const lease = await leases.admit(callerOf(made));
    expect(lease.sandbox).to.equal(true);
    expect(await account.leaseCount()).to.equal(1);
    await leases.release(lease);
  });

  it('count renders of test keys and live keys toward one concurrency limit', async () => {
    const callers = [callerOf(await create(TEST)), account.caller];
    const replicas = [await fixture.replica(), await fixture.replica()];
    const outcomes = await Promise.allSettled(
      Array.from({ length: 40 }, (_, nth) => replicas[nth % 2]!.admit(callers[(nth >> 1) % 2]!)),
    );
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).to.have.length(2);
    for (const outcome of outcomes)
      if (outcome.status === 'rejected')
        expect(outcome.reason).to.include({ code: 'concurrency_limit' });
    expect(await account.leaseCount()).to.equal(2);
  });
});
