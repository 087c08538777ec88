// @proves administrators, account-deletion

import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { Accounts } from '../../../api/accounts/accounts.ts';
import { parsePlans } from '../../../api/accounts/plans.ts';
import type { OperatorAccount } from '../../../api/console/contract/accounts.ts';
import {
  CONSOLE_SECRET,
  type ConsoleFixture,
  consoleFixture,
  type TestUser,
} from '../../support/console/console-fixture.ts';
import { cookieClient } from '../../support/cookie-client.ts';
import { eventually } from '../../support/eventually.ts';
import { storedJob } from '../../support/stored-job.ts';

interface Page<T> {
  items: T[];
  next: string | null;
}

describe('an operator', () => {
  let fixture: ConsoleFixture;
  let operator: TestUser;
  before(async () => {
    fixture = await consoleFixture({ workers: 0 });
    operator = await fixture.createUser({ operator: true });
  });
  after(() => fixture.stop());

  /** All pages, one after the other. */
  async function all<T>(path: string): Promise<T[]> {
    const items: T[] = [];
    for (let next: string | null = ''; next !== null; ) {
      const page: Page<T> = await operator.good('GET', `${path}${next && `&cursor=${next}`}`);
      items.push(...page.items);
      next = page.next;
    }
    return items;
  }

  describe('lists accounts', () => {
    it('newest first, paginated, each once', async () => {
      const mark = randomUUID();
      const at = new Date();
      // Three of them in the same millisecond: the id decides.
      const ids = await Promise.all(
        Array.from({ length: 7 }, async (_, index) => {
          const id = await fixture.account2();
          await fixture.store.accounts.updateOne(
            { _id: id },
            {
              $set: {
                name: `${mark} ${index}`,
                createdAt: index < 3 ? at : new Date(at.getTime() + index),
              },
            },
          );
          return id;
        }),
      );
      const found = await all<OperatorAccount>(`/operator/accounts?search=${mark}&limit=2`);
      expect(found.map(({ id }) => id))
        .to.have.members(ids)
        .and.have.length(7);
      expect(found.slice(0, 4).map(({ name }) => name)).to.deep.equal(
        [6, 5, 4, 3].map(index => `${mark} ${index}`),
      );
    });

    it('by prefix of the name ignoring case, by id, and by state', async () => {
      const name = `Größe (a.b) ${randomUUID()}`;
      const made = await operator.good<OperatorAccount>('POST', '/operator/accounts', {
        name,
        plan: 'growth',
      });
      for (const search of ['größe (A.', made.id]) {
        const { items } = await operator.good<Page<OperatorAccount>>(
          'GET',
          `/operator/accounts?search=${encodeURIComponent(search)}`,
        );
        expect(items.map(({ id }) => id)).to.deep.equal([made.id]);
      }
      for (const search of ['.*', 'größe (aXb', '^', '[']) {
        const { items } = await operator.good<Page<OperatorAccount>>(
          'GET',
          `/operator/accounts?search=${encodeURIComponent(search)}`,
        );
        expect(items).to.deep.equal([]);
      }
      await operator.good('PATCH', `/operator/accounts/${made.id}`, { state: 'unpaid' });
      const unpaid = await operator.good<Page<OperatorAccount>>(
        'GET',
        '/operator/accounts?state=unpaid',
      );
      expect(unpaid.items.map(({ id }) => id)).to.deep.equal([made.id]);
    });

    it('with members, keys, plan and usage', async () => {
      const account = await fixture.account2('starter');
      await fixture.createUser({ role: 'owner', account });
      await fixture.createUser({ role: 'viewer', account });
      const shown = await operator.good<OperatorAccount>('GET', `/operator/accounts/${account}`);
      expect(shown).to.include({
        id: account,
        plan: 'starter',
        state: 'active',
        members: 2,
        keys: 0,
        running: 0,
        usage: 0,
        intranet: false,
        rendererReuse: true,
      });
    });

    for (const cursor of [
      'x',
      'MTIz',
      Buffer.from('12.{"$gt":""}').toString('base64url'),
      Buffer.from(`${'9'.repeat(20)}.a`).toString('base64url'),
    ])
      it(`but not with the cursor ${cursor}`, async () => {
        const answer = await operator.call('GET', `/operator/accounts?cursor=${cursor}`);
        expect(answer.error()).to.include({ code: 'validation_error' });
        expect(answer.error().message).to.include('`cursor`');
      });
  });

  describe('changes accounts', () => {
    it('and the audit log of the account contains actor and previous values', async () => {
      const account = await fixture.account2('free');
      const shown = await operator.good<OperatorAccount>('PATCH', `/operator/accounts/${account}`, {
        plan: 'scale',
        state: 'paused',
        intranet: true,
        rendererReuse: false,
      });
      expect(shown).to.include({
        plan: 'scale',
        state: 'paused',
        intranet: true,
        rendererReuse: false,
      });
      const entry = (await fixture.store.console.audit.findOne({
        account,
        action: 'account.changed',
      }))!;
      expect(entry.actor).to.equal(operator.email);
      expect(entry.details).to.deep.equal({
        plan: 'scale',
        planBefore: 'free',
        state: 'paused',
        stateBefore: 'active',
        intranet: true,
        intranetBefore: false,
        rendererReuse: false,
        rendererReuseBefore: true,
      });
    });

    it('and gets the known plans and states in an error', async () => {
      const path = `/operator/accounts/${await fixture.account2()}`;
      expect((await operator.call('PATCH', path, { plan: 'gold' })).error().message).to.include(
        'The plans are free, starter',
      );
      expect((await operator.call('PATCH', path, { state: 'gone' })).error().message).to.include(
        '`state` must be one of active',
      );
      expect((await operator.call('PATCH', path, {})).error().message).to.include(
        'Nothing to change',
      );
    });

    it('but only the state `paused` when Stripe manages billing', async () => {
      const accounts = new Accounts(fixture.store, {
        plans: parsePlans([]),
        peppers: ['p'],
        billing: { mode: 'stripe' },
      });
      const account = await fixture.account2('growth');
      const billing = {
        customer: 'cus_1',
        revision: 1,
        syncedAt: new Date(),
        subscription: 'sub_1',
        state: 'past_due' as const,
        periodStart: new Date(),
        periodEnd: new Date(Date.now() + 86_400_000),
      };
      await fixture.store.accounts.updateOne(
        { _id: account },
        { $set: { billing, state: 'past_due', pastDueSince: new Date() } },
      );
      for (const change of [
        { plan: 'scale' },
        { state: 'active' },
        { state: 'paused', plan: 'scale' },
      ]) {
        const rejected = await accounts.setAccountById(account, change).catch(error => error);
        expect(rejected, JSON.stringify(change)).to.include({ code: 'conflict' });
        expect(rejected.message).to.include('Stripe manages');
      }
      expect(
        await accounts.setAccountById(account, { state: 'paused', intranet: true }),
      ).to.include({ state: 'paused', intranet: true });
      expect(await accounts.setAccountById(account, { state: 'active' })).to.include({
        state: 'past_due',
        plan: 'growth',
      });
    });

    it('but no other state in an installation without billing', async () => {
      const accounts = new Accounts(fixture.store, {
        plans: parsePlans([]),
        peppers: ['p'],
        billing: { mode: 'none' },
      });
      const rejected = await accounts
        .setAccountById(await fixture.account2(), { state: 'paused' })
        .catch(error => error);
      expect(rejected).to.include({ code: 'conflict' });
      expect(rejected.message).to.include('PRESSROOM_BILLING=manual');
    });

    it('and invites the first owner', async () => {
      const made = await operator.good<OperatorAccount>('POST', '/operator/accounts', {
        name: `new ${randomUUID()}`,
      });
      const email = `${randomUUID()}@example.com`;
      const { link } = await operator.good<{ link: string }>(
        'POST',
        `/operator/accounts/${made.id}/invitations`,
        { email, role: 'owner' },
      );
      const browser = cookieClient(fixture.api.port());
      await browser.post('/app/invitation', { token: link.split('#')[1]! });
      await browser.post('/app/invitation/accept', {
        as: 'new',
        name: 'Ada',
        password: 'correct horse battery',
      });
      expect(
        (await fixture.store.console.teams.findOne({ _id: made.id }))!.members.map(
          ({ role }) => role,
        ),
      ).to.deep.equal(['owner']);
    });

    it('with unique names only', async () => {
      const answer = await operator.call('POST', '/operator/accounts', { name: fixture.account });
      expect(answer.status).to.equal(400);
      expect(answer.error().message).to.include('already');
    });
  });

  describe('lists users', () => {
    it('by prefix of address or name, with their accounts and without secrets', async () => {
      const account = await fixture.account2();
      const person = await fixture.createUser({ role: 'developer', account });
      await fixture.store.console.users.updateOne(
        { _id: person.id },
        {
          $set: {
            password: '$argon2id$secret',
            twoFactor: {
              secret: 'sealed',
              recoveryCodes: ['hash'],
              lastStep: 0,
              confirmedAt: new Date(),
            },
          },
        },
      );
      const answer = await operator.call(
        'GET',
        `/operator/users?search=${person.email.slice(0, 12).toUpperCase()}`,
      );
      const { items } = answer.json() as Page<Record<string, unknown>>;
      const { name } = (await fixture.store.accounts.findOne({ _id: account }))!;
      expect(items).to.have.length(1);
      expect(items[0]).to.deep.include({
        id: person.id,
        twoFactor: true,
        disabled: false,
        accounts: [{ id: account, name, role: 'developer' }],
      });
      expect(String(answer.body)).not.to.match(/argon2|sealed|recovery/);
    });

    it('paginated, each once', async () => {
      const people = await Promise.all(Array.from({ length: 5 }, () => fixture.createUser()));
      const found = await all<{ id: string }>('/operator/users?limit=2');
      expect(found.map(({ id }) => id)).to.include.members(people.map(({ id }) => id));
      expect(new Set(found.map(({ id }) => id)).size).to.equal(found.length);
    });
  });

  describe('changes users', () => {
    it('and a disabled user loses all sessions immediately and cannot sign in', async () => {
      const person = await fixture.createUser({ role: 'owner', account: await fixture.account2() });
      await person.good('GET', '/me');
      await operator.good('PATCH', `/operator/users/${person.id}`, { disabled: true });
      expect((await person.call('GET', '/me')).status).to.equal(401);
      expect(await fixture.store.console.sessions.countDocuments({ user: person.id })).to.equal(0);
      await operator.good('PATCH', `/operator/users/${person.id}`, { disabled: false });
      expect((await person.call('GET', '/me')).status).to.equal(401);
      const acts = await fixture.store.console.audit
        .find({ target: person.email, user: operator.id })
        .toArray();
      expect(acts.map(({ action }) => action).sort()).to.deep.equal([
        'user.disabled',
        'user.enabled',
      ]);
    });

    it('and a removed operator is rejected from the next call on', async () => {
      const other = await fixture.createUser();
      await operator.good('PATCH', `/operator/users/${other.id}`, { operator: true });
      await other.good('GET', '/operator/users');
      await operator.good('PATCH', `/operator/users/${other.id}`, { operator: false });
      expect((await other.call('GET', '/operator/users')).status).to.equal(403);
    });

    it('but not themselves', async () => {
      for (const change of [{ operator: false }, { disabled: true }])
        expect(
          (await operator.call('PATCH', `/operator/users/${operator.id}`, change)).status,
        ).to.equal(409);
      await operator.good('GET', '/operator/users');
    });

    it('and one operator remains when two remove each other concurrently', async () => {
      const alone = await consoleFixture({ workers: 0 });
      try {
        for (let round = 0; round < 10; round += 1) {
          await alone.store.console.users.deleteMany({});
          const [one, other] = [
            await alone.createUser({ operator: true }),
            await alone.createUser({ operator: true }),
          ];
          const change = round % 2 ? { operator: false } : { disabled: true };
          await Promise.all([
            one.call('PATCH', `/operator/users/${other.id}`, change),
            other.call('PATCH', `/operator/users/${one.id}`, change),
          ]);
          const left = await alone.store.console.users.countDocuments({
            operator: true,
            disabled: { $ne: true },
          });
          expect(left).to.be.at.least(1);
        }
      } finally {
        await alone.stop();
      }
    });
  });

  describe('deletes an account', () => {
    it('at once, its data soon after, with the operator in the audit log', async () => {
      const { id, name } = await fixture.accounts.createAccount('to delete');
      await storedJob(fixture.store, CONSOLE_SECRET, id);
      await operator.good('DELETE', `/operator/accounts/${id}`);
      expect((await operator.call('GET', `/operator/accounts/${id}`)).status).to.equal(404);
      const { jobs } = fixture.store.asynchronous;
      await eventually(async () => expect(await jobs.countDocuments({ account: id })).to.equal(0));
      const entry = await fixture.store.console.audit.findOne({ account: id });
      expect(entry).to.include({ action: 'account.deleted', target: name, actor: operator.email });
      expect((await operator.call('DELETE', `/operator/accounts/${id}`)).status).to.equal(404);
    });

    it('but not while it has a subscription', async () => {
      const id = await fixture.account2();
      const periodEnd = new Date(Date.now() + 86_400e3);
      await fixture.store.accounts.updateOne(
        { _id: id },
        { $set: { 'billing.periodEnd': periodEnd } },
      );
      const refused = await operator.call('DELETE', `/operator/accounts/${id}`);
      expect([refused.status, refused.error().code]).to.deep.equal([409, 'conflict']);
      await operator.good('GET', `/operator/accounts/${id}`);
      expect(await fixture.store.console.audit.countDocuments({ account: id })).to.equal(0);
    });
  });
});

describe('an account that an operator suspends', function () {
  this.timeout(90_000);
  let fixture: ConsoleFixture;
  before(async () => {
    fixture = await consoleFixture();
  });
  after(() => fixture.stop());

  it('is rejected from the next request on, and served again once reactivated', async () => {
    const operator = await fixture.createUser({ operator: true });
    const page = { html: '<p>Hello</p>' };
    const owner = await fixture.createUser({ role: 'owner' });
    expect((await fixture.render(page)).status).to.equal(200);
    await operator.good('PATCH', `/operator/accounts/${fixture.accountId}`, { state: 'paused' });
    expect(await fixture.renderError(page)).to.include({
      status: 403,
      code: 'subscription_inactive',
    });
    const played = await owner.call(
      'POST',
      `/accounts/${fixture.accountId}/playground/render`,
      page,
    );
    expect([played.status, played.error().code]).to.deep.equal([403, 'subscription_inactive']);
    await operator.good('PATCH', `/operator/accounts/${fixture.accountId}`, { state: 'active' });
    expect((await fixture.render(page)).status).to.equal(200);
  });
});
