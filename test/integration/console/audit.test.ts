// @proves audit-log

import { expect } from 'chai';
import type { AuditPage, OperatorAuditPage } from '../../../api/console/contract/users.ts';
import { ProgramAudit } from '../../../api/history/program-audit.ts';
import { createBatchId } from '../../../api/jobs/job-id.ts';
import { silentLog } from '../../../common/log.ts';
import {
  type ConsoleFixture,
  consoleFixture,
  type TestUser,
} from '../../support/console/console-fixture.ts';

describe('the audit log', () => {
  let fixture: ConsoleFixture;
  let account: string;
  let owner: TestUser;
  before(async () => {
    fixture = await consoleFixture({ workers: 0 });
  });
  beforeEach(async () => {
    account = await fixture.account2();
    owner = await fixture.createUser({ role: 'owner', account });
  });
  after(() => fixture.stop());

  const put = (entries: { id: string; at: Date }[]) =>
    fixture.store.console.audit.insertMany(
      entries.map(({ id, at }) => ({
        _id: id,
        at,
        account,
        actor: 'Stripe',
        action: 'plan.changed',
      })),
    );

  it('contains actor, action, target, time and address', async () => {
    const { key } = await owner.good<{ key: { id: string } }>('POST', `/accounts/${account}/keys`, {
      name: 'production',
    });
    const { items } = await owner.good<AuditPage>('GET', `/accounts/${account}/audit`);
    expect(items).to.have.length(1);
    expect(items[0]).to.include({ actor: owner.email, action: 'key.created', ip: '127.0.0.1' });
    expect(items[0]!.target).to.include('production');
    expect(Date.now() - Date.parse(items[0]!.at)).to.be.within(0, 60_000);
    expect(JSON.stringify(items)).not.to.include('pressroom_live_');
    expect(key.id).to.be.a('string');
  });

  it('is paginated newest first, with each entry once, also within one millisecond', async () => {
    const at = Date.now();
    await put(
      Array.from({ length: 25 }, (_, index) => ({
        id: `aud_${account}${String(index).padStart(2, '0')}`,
        at: new Date(at + Math.floor(index / 10)),
      })),
    );
    const seen: string[] = [];
    for (let next: string | null = ''; next !== null; ) {
      const page: AuditPage = await owner.good(
        'GET',
        `/accounts/${account}/audit?limit=4${next && `&cursor=${next}`}`,
      );
      expect(page.items.length).to.be.within(1, 4);
      seen.push(...page.items.map(({ id }) => id));
      next = page.next;
    }
    expect(seen).to.deep.equal([...seen].sort().reverse());
    expect(new Set(seen).size).to.equal(25);
  });

  it('is paginated past the entries of programs', async () => {
    const programs = new ProgramAudit(fixture.store, silentLog);
    const { key } = await fixture.accounts.createKey(
      (await fixture.accounts.accountById(account)).name,
      { name: 'invoices' },
    );
    const caller = { accountId: account, keyId: key.id, keyName: key.name, clientIp: '127.0.0.1' };
    await programs.renderCanceled(caller);
    await programs.batchCanceled(caller, createBatchId(), 1);
    await programs.rendersPurged(account, 1);
    const seen: string[] = [];
    for (let next: string | null = ''; next !== null; ) {
      const page: AuditPage = await owner.good(
        'GET',
        `/accounts/${account}/audit?limit=1${next && `&cursor=${next}`}`,
      );
      seen.push(...page.items.map(({ action }) => action));
      next = page.next;
    }
    expect(seen).to.have.members(['renders.canceled', 'batch.canceled', 'renders.purged']);
  });

  it('continues at the cursor, whatever was written since', async () => {
    const at = Date.now();
    await put([1, 2, 3].map(index => ({ id: `aud_${account}${index}`, at: new Date(at + index) })));
    const first = await owner.good<AuditPage>('GET', `/accounts/${account}/audit?limit=2`);
    await put([{ id: `aud_${account}9`, at: new Date(at + 9) }]);
    const second = await owner.good<AuditPage>(
      'GET',
      `/accounts/${account}/audit?limit=2&cursor=${first.next}`,
    );
    expect(second.items.map(({ id }) => id)).to.deep.equal([`aud_${account}1`]);
    expect(second.next).to.equal(null);
  });

  it('of one account is not readable with the cursor of another', async () => {
    const at = Date.now();
    await put([1, 2, 3].map(index => ({ id: `aud_${account}${index}`, at: new Date(at + index) })));
    const { next } = await owner.good<AuditPage>('GET', `/accounts/${account}/audit?limit=1`);
    const other = await fixture.account2();
    const stranger = await fixture.createUser({ role: 'owner', account: other });
    const page = await stranger.good<AuditPage>('GET', `/accounts/${other}/audit?cursor=${next}`);
    expect(page.items).to.deep.equal([]);
  });

  it('covers all accounts for an operator, with their names', async () => {
    const operator = await fixture.createUser({ operator: true });
    await owner.good('POST', `/accounts/${account}/keys`, { name: 'production' });
    const person = await fixture.createUser();
    await operator.good('PATCH', `/operator/users/${person.id}`, { disabled: true });
    const { items } = await operator.good<OperatorAuditPage>('GET', '/operator/audit?limit=2');
    const { name } = (await fixture.store.accounts.findOne({ _id: account }))!;
    expect(items.map(entry => [entry.action, entry.account])).to.deep.equal([
      ['user.disabled', null],
      ['key.created', { id: account, name }],
    ]);
    const own = await owner.good<AuditPage>('GET', `/accounts/${account}/audit`);
    expect(own.items.map(({ action }) => action)).to.deep.equal(['key.created']);
    expect(own.items[0]).not.to.have.property('account');
  });

  it('has 1 to 100 entries per page', async () => {
    for (const limit of ['0', '101', '-1', '1.5', 'x', '']) {
      const answer = await owner.call('GET', `/accounts/${account}/audit?limit=${limit}`);
      expect(answer.status, limit).to.equal(400);
      expect(answer.error().message).to.match(
        /^`limit` must be (at (least 1|most 100)|a number|an integer)\.$/,
      );
    }
  });
});
