// @proves unauthorized, api-keys

import { expect } from 'chai';
import { MongoClient } from 'mongodb';
import { createAcceptedKeys } from '../../../api/accounts/accepted-keys.ts';
import { Accounts } from '../../../api/accounts/accounts.ts';
import { createAccountId, createKeyText, hashKeyByEach } from '../../../api/accounts/keys.ts';
import type { BillingMode } from '../../../api/accounts/plans.ts';
import {
  type LeaseFixture,
  leaseFixture,
  PEPPERS,
  plans,
  rejectionOf,
} from '../../support/lease-fixture.ts';

describe('accounts and keys', () => {
  let fixture: LeaseFixture;
  before(async () => {
    fixture = await leaseFixture();
  });
  afterEach(() => fixture.reset());
  after(() => fixture?.close());

  const accountsOf = () => new Accounts(fixture.store, { plans, peppers: PEPPERS });
  const expectError = async (work: Promise<unknown>, code: string, message: string) => {
    const error = await rejectionOf(work);
    expect(error.code).to.equal(code);
    expect(error.message).to.contain(message);
  };

  describe('management by an administrator', () => {
    it('creates accounts on the first plan, active and without intranet, and lists them by name', async () => {
      const accounts = accountsOf();
      const zoo = await accounts.createAccount('Zoo');
      await accounts.createAccount('Aquarium', {
        plan: 'Scale',
        state: 'trialing',
        intranet: true,
      });
      const listed = (await accounts.listAccounts()).filter(({ name }) =>
        ['Zoo', 'Aquarium'].includes(name),
      );
      expect(listed.map(({ name }) => name)).to.deep.equal(['Aquarium', 'Zoo']);
      expect(listed[0]).to.include({
        plan: 'scale',
        state: 'trialing',
        intranet: true,
        keys: 0,
        running: 0,
        usage: 0,
      });
      expect(listed[1]).to.deep.equal(zoo);
      expect(zoo).to.include({
        plan: 'free',
        state: 'active',
        intranet: false,
        rendererReuse: true,
      });
      expect(zoo.id).to.match(/^[0-9A-Za-z]{10}$/);
    });

    it('rejects invalid input with an error that names the accepted values', async () => {
      const accounts = accountsOf();
      await accounts.createAccount('Museum');
      await expectError(
        accounts.createAccount('Museum'),
        'validation_error',
        'an account named `Museum` already exists',
      );
      await expectError(
        accounts.createAccount('New', { plan: 'gold' }),
        'validation_error',
        'unknown plan `gold`. The plans are free, starter, growth, scale',
      );
      await expectError(
        accounts.createAccount('New', { state: 'asleep' }),
        'validation_error',
        'active, trialing, past_due, unpaid, canceled, paused',
      );
      for (const name of ['', ' ', ' a', 'a ', 'a\nb', 'a\u0000b', 'a'.repeat(101)])
        await expectError(
          accounts.createAccount(name),
          'validation_error',
          '`name` must be 1 to 100 printable characters',
        );
      await expectError(accounts.setAccount('Museum', {}), 'validation_error', 'Nothing to change');
      await expectError(
        accounts.setAccount('Unknown', { plan: 'free' }),
        'not_found',
        'no account named `Unknown`',
      );
      await expectError(accounts.listKeys('Unknown'), 'not_found', 'no account named `Unknown`');
      await expectError(
        accounts.createKey('Unknown', { name: 'key' }),
        'not_found',
        'no account named `Unknown`',
      );
      await expectError(
        accounts.revokeKey('Museum', 'nokey'),
        'not_found',
        'no API key with the ID `nokey`',
      );
      expect((await accounts.listAccounts()).filter(({ name }) => name === 'New')).to.have.length(
        0,
      );
    });

    it('changes plan, state and intranet, and keeps the first time of past_due', async () => {
      const accounts = accountsOf();
      const { id } = await accounts.createAccount('Theatre');
      expect(await accounts.setAccount('Theatre', { plan: 'GROWTH', intranet: true })).to.include({
        plan: 'growth',
        intranet: true,
      });
      for (const rendererReuse of [false, true])
        expect(await accounts.setAccount('Theatre', { rendererReuse })).to.include({
          intranet: true,
          rendererReuse,
        });
      await accounts.setAccount('Theatre', { state: 'past_due' });
      const first = (await fixture.store.accounts.findOne({ _id: id }))?.pastDueSince;
      expect(first).to.be.instanceOf(Date);
      await accounts.setAccount('Theatre', { state: 'past_due' });
      expect((await fixture.store.accounts.findOne({ _id: id }))?.pastDueSince).to.deep.equal(
        first,
      );
      expect(await accounts.setAccount('Theatre', { state: 'active' })).to.include({
        state: 'active',
        plan: 'growth',
      });
      expect(await fixture.store.accounts.findOne({ _id: id })).to.not.have.property(
        'pastDueSince',
      );
    });

    it('shows running renders and the usage of the current month', async () => {
      const scale = await fixture.account('scale', { usage: { period: '2001-01', count: 41 } });
      const leases = await fixture.replica();
      const shown = async () =>
        (await scale.accounts.listAccounts()).find(({ name }) => name === scale.name);
      expect(await shown()).to.include({ usage: 0, running: 0, keys: 1 });
      await leases.settle(await leases.admit(scale.caller));
      await leases.admit(scale.caller);
      expect(await shown()).to.include({ usage: 1, running: 1 });
    });

    it('shows the text of a new key once and stores only its hash', async () => {
      const accounts = accountsOf();
      const { id } = await accounts.createAccount('Library');
      const expiresAt = new Date(Date.now() + 60e3);
      const { text, key } = await accounts.createKey('Library', {
        name: 'press',
        expiresAt,
        allowedIps: ['192.0.2.7', '2001:db8::1/32'],
      });
      expect(key).to.include({ name: 'press', last4: text.slice(-4) });
      expect(key.allowedIps).to.deep.equal(['192.0.2.7/32', '2001:db8::/32']);
      expect(await accounts.listKeys('Library')).to.deep.equal([key]);
      const stored = JSON.stringify(await fixture.store.accounts.findOne({ _id: id }));
      expect(stored).to.contain(hashKeyByEach(text, PEPPERS)[0]);
      expect(stored).to.not.contain(text.slice(25, 47));
      await accounts.revokeKey('Library', key.id);
      expect(await accounts.listKeys('Library')).to.deep.equal([]);
    });

    it('rejects a key that expires in the past, has an invalid network, or is one too many', async () => {
      const accounts = accountsOf();
      const { id } = await accounts.createAccount('Archive');
      await expectError(
        accounts.createKey('Archive', { name: 'k', expiresAt: new Date(Date.now() - 1) }),
        'validation_error',
        '`expiresAt`',
      );
      await expectError(
        accounts.createKey('Archive', { name: 'k', expiresAt: new Date('never') }),
        'validation_error',
        '`expiresAt`',
      );
      await expectError(
        accounts.createKey('Archive', { name: 'k', allowedIps: ['10.0.0.0/33'] }),
        'validation_error',
        '`10.0.0.0/33`',
      );
      await expectError(accounts.createKey('Archive', { name: '' }), 'validation_error', '`name`');
      const { key } = await accounts.createKey('Archive', { name: 'one' });
      const many = Array.from({ length: 199 }, (_, i) => ({
        ...key,
        id: `key ${i}`,
        hash: `hash ${i}`,
      }));
      await fixture.store.accounts.updateOne({ _id: id }, { $push: { keys: { $each: many } } });
      await expectError(
        accounts.createKey('Archive', { name: 'k' }),
        'validation_error',
        'already has 200 API keys',
      );
    });
  });

  describe('the bearer check', () => {
    let nowMs = 1;
    const config = {
      plans,
      peppers: PEPPERS,
      pastDueGraceMs: 60_000,
      billing: 'manual' as BillingMode,
      dashboardUrl: 'http://localhost/app',
    };
    const checker = (changes: Partial<typeof config> = {}) =>
      createAcceptedKeys(fixture.store, { ...config, ...changes }, () => nowMs);
    const IP = '192.0.2.1';

    it('returns the account of a valid key and whether it may reach the intranet', async () => {
      const { id, key, text, caller } = await fixture.account('free', { intranet: true });
      expect(await checker().check(text, IP, 'render')).to.deep.equal({
        accountId: id,
        keyId: key.id,
        keyName: 'key',
        keyHash: caller.keyHash,
        clientIp: IP,
        intranet: true,
        allowedIps: [],
        parallel: 1,
        test: false,
      });
    });

    it('returns the same error for an unknown, expired or restricted key', async () => {
      const { id } = await fixture.account('free');
      const expired = await fixture.account('free');
      await fixture.store.accounts.updateOne(
        { _id: expired.id },
        { $set: { 'keys.0.expiresAt': new Date(Date.now() - 1) } },
      );
      const restricted = await fixture.account('free');
      await fixture.store.accounts.updateOne(
        { _id: restricted.id },
        { $set: { 'keys.0.allowedIps': ['198.51.100.0/24'] } },
      );
      const bad = [createKeyText(id), createKeyText('nosuchacct'), expired.text, restricted.text];
      const errors = await Promise.all(
        bad.map(key => rejectionOf(checker().check(key, IP, 'render'))),
      );
      expect(
        errors.map(({ code, message, headers }) => ({ code, message, headers })),
      ).to.deep.equal(
        bad.map(() => ({
          code: 'unauthorized',
          message: errors[0]!.message,
          headers: { 'WWW-Authenticate': 'Bearer' },
        })),
      );
      await checker().check(restricted.text, '198.51.100.9', 'render');
    });

    it('names the form of a key when a text does not have it', async () => {
      const { text } = await fixture.account('free');
      for (const malformed of [
        '',
        text.slice(1),
        text.slice(0, -1),
        `${text}x`,
        text.toUpperCase(),
      ])
        await expectError(
          checker().check(malformed, IP, 'render'),
          'unauthorized',
          'is not an API key',
        );
    });

    it('costs the database the same for every unknown key, whatever account it names', async () => {
      const canceled = await fixture.account('free', { state: 'canceled' });
      const full = await fixture.account('scale');
      for (let i = 1; i < 50; i++) await full.accounts.createKey(full.name, { name: `key ${i}` });
      const client = await MongoClient.connect(fixture.mongod.uriFor('leases'));
      try {
        const db = client.db();
        await db.command({ profile: 2, filter: { op: 'query', ns: 'leases.accounts' } });
        for (const id of [createAccountId(), canceled.id, full.id])
          await rejectionOf(checker().check(createKeyText(id), IP, 'render'));
        await db.command({ profile: 0 });
        const costs = await db.collection('system.profile').find().sort({ ts: 1 }).toArray();
        const cost = (planSummary: string) => ({ planSummary, keysExamined: 0, docsExamined: 0 });
        expect(
          costs.map(({ planSummary, keysExamined, docsExamined }) => ({
            planSummary,
            keysExamined,
            docsExamined,
          })),
        ).to.deep.equal(
          Array(3)
            .fill([cost('IXSCAN { keys.hash: 1 }'), cost('IXSCAN { restrictedKeys.hash: 1 }')])
            .flat(),
        );
      } finally {
        await client.close();
      }
    });

    it('refers to the payment method when Stripe reports a canceled subscription', async () => {
      const { text } = await fixture.account('free', { state: 'canceled' });
      await expectError(
        checker({ billing: 'stripe' }).check(text, IP, 'render'),
        'subscription_inactive',
        'Your subscription is canceled. Update your payment method at http://localhost/app, then try again.',
      );
    });

    it('refers to the administrator when administrators manage subscriptions', async () => {
      const { text } = await fixture.account('free', { state: 'canceled' });
      await expectError(
        checker({ billing: 'manual' }).check(text, IP, 'render'),
        'subscription_inactive',
        'Your subscription is canceled. Contact your administrator, or see http://localhost/app.',
      );
    });

    for (const state of ['past_due', 'unpaid', 'canceled', 'paused'] as const)
      it(`accepts a key of an account that is ${state} in an installation without billing`, async () => {
        const { id, text } = await fixture.account('free', {
          state,
          pastDueSince: new Date(Date.now() - 3_600_000),
        });
        expect(await checker({ billing: 'none' }).check(text, IP, 'render')).to.include({
          accountId: id,
        });
        await expectError(
          checker().check(text, IP, 'render'),
          'subscription_inactive',
          'Contact your administrator',
        );
      });

    it('refers to the administrator when the account is suspended', async () => {
      const { text } = await fixture.account('free', { state: 'paused' });
      await expectError(
        checker({ billing: 'stripe' }).check(text, IP, 'render'),
        'subscription_inactive',
        'Your account is suspended. Contact your administrator, or see http://localhost/app.',
      );
    });

    it('caches a valid key for a minute', async () => {
      const { text } = await fixture.account('free');
      const keys = checker();
      nowMs = 1;
      await keys.check(text, IP, 'render');
      await fixture.failCommands('find', { errorCode: 11602 });
      nowMs = 60_001;
      await keys.check(text, IP, 'render');
      nowMs = 60_002;
      expect(await rejectionOf(keys.check(text, IP, 'render'))).to.include({
        code: 'render_failed',
        reason: 'database',
      });
      await fixture.clearFailPoints();
      await keys.check(text, IP, 'render');
    });

    it('removes a key that the admission rejected from the cache', async () => {
      const { text, caller, accounts, name, key } = await fixture.account('free');
      const keys = checker();
      await keys.check(text, IP, 'render');
      await accounts.revokeKey(name, key.id);
      await keys.check(text, IP, 'render');
      keys.forget(caller);
      await expectError(keys.check(text, IP, 'render'), 'unauthorized', 'revoked');
    });

    it('does not cache a rejection', async () => {
      const { text, accounts, name } = await fixture.account('free', { state: 'paused' });
      const keys = checker();
      await rejectionOf(keys.check(text, IP, 'render'));
      await accounts.setAccount(name, { state: 'active' });
      await keys.check(text, IP, 'render');
    });

    it('reads a key once for concurrent calls', async () => {
      const { text } = await fixture.account('free');
      const keys = checker();
      // All calls share the one read that fails; a second read would succeed.
      await fixture.failCommands('find', { errorCode: 2 }, { times: 1 });
      const answers = await Promise.allSettled(
        Array.from({ length: 20 }, () => keys.check(text, IP, 'render')),
      );
      expect(answers.map(({ status }) => status)).to.deep.equal(Array(20).fill('rejected'));
      await keys.check(text, IP, 'render');
    });

    it('accepts keys created with the former pepper during a rotation', async () => {
      const { text } = await fixture.account('free');
      await checker({ peppers: ['a newer pepper', ...PEPPERS] }).check(text, IP, 'render');
      await expectError(
        checker({ peppers: ['a newer pepper'] }).check(text, IP, 'render'),
        'unauthorized',
        'unknown',
      );
    });
  });
});
