import { expect } from 'chai';
import type { Live, Overview, Usage } from '../../../api/console/contract/accounts.ts';
import { bucketOf } from '../../../api/history/usage-buckets.ts';
import {
  type ConsoleFixture,
  consoleFixture,
  type TestUser,
} from '../../support/console/console-fixture.ts';
import { eventually } from '../../support/eventually.ts';
import { html } from '../../support/installation.ts';

const today = () => new Date().toISOString().slice(0, 10);

describe('the usage of an account', () => {
  let fixture: ConsoleFixture;
  let person: TestUser;
  let keyId: string;
  let day: string;
  before(async () => {
    fixture = await consoleFixture();
    person = await fixture.createUser({ role: 'billing' });
    keyId = (await fixture.accounts.listKeys(fixture.account))[0]!.id;
    day = today();
    await fixture.pdf({ html: html('one') });
    await fixture.pdf({ html: html('two') });
    await fixture.pdf({ html: html('mark'), sandbox: true });
    await fixture.renderError({ html: 7 });
    const owner = await fixture.createUser({ role: 'owner' });
    await owner.call('POST', `/accounts/${fixture.accountId}/playground/render`, {
      html: html('tried'),
    });
  });
  after(() => fixture?.stop());

  const usage = (query = '') =>
    person.good<Usage>('GET', `/accounts/${fixture.accountId}/usage${query}`);
  const sumOf = (
    counts: readonly Pick<Usage['keys'][number], 'ok' | 'sandbox' | 'failed' | 'rejected'>[],
  ) =>
    counts.reduce(
      (sum, { ok, sandbox, failed, rejected }) => sum + ok + sandbox + failed + rejected,
      0,
    );
  /** Keys and days are read separately. */
  const written = () =>
    eventually(async () => {
      const found = await usage();
      expect([sumOf(found.keys), sumOf(found.days)]).to.deep.equal([5, 5]);
      return found;
    });

  it('adds up renders by day', async () => {
    const { days, to } = await written();
    expect(days).to.have.length(30);
    // The tests may run over midnight.
    const sums = days
      .slice(-2)
      .map(({ ok, sandbox, rejected, pages }) => ({ ok, sandbox, rejected, pages }));
    expect(to >= day).to.equal(true);
    expect(sums.reduce((sum, each) => sum + each.ok, 0)).to.equal(2);
    expect(sums.reduce((sum, each) => sum + each.sandbox, 0)).to.equal(2);
    expect(sums.reduce((sum, each) => sum + each.rejected, 0)).to.equal(1);
    expect(sums.reduce((sum, each) => sum + each.pages, 0)).to.equal(4);
    expect(days.find(each => each.ok > 0)!.p50Ms).to.equal(null);
  });

  it('adds up by key, with an own line for renders without a key', async () => {
    const { keys } = await written();
    expect(keys).to.have.length(2);
    expect(keys[0]).to.deep.include({ id: keyId, name: 'test', ok: 2, sandbox: 1, rejected: 1 });
    expect(keys[1]).to.deep.equal({
      id: null,
      name: null,
      last4: null,
      ok: 0,
      sandbox: 1,
      failed: 0,
      rejected: 0,
    });
  });

  it('can be filtered by key', async () => {
    await written();
    expect(sumOf((await usage(`?key=${keyId}`)).days)).to.equal(4);
    expect(sumOf((await usage('?key=none')).days)).to.equal(1);
    expect(sumOf((await usage('?key=another')).days)).to.equal(0);
  });

  it('includes days on which every render failed', async () => {
    const account = await fixture.account2();
    await fixture.store.console.usageDays.insertOne({
      _id: { account, day, key: '' },
      ...{ ok: 0, sandbox: 0, failed: 2, bytes: 0, pages: 0, lastAt: new Date(), flushes: [] },
    });
    const owner = await fixture.createUser({ role: 'owner', account });
    const { days } = await owner.good<Usage>(
      'GET',
      `/accounts/${account}/usage?from=${day}&to=${day}`,
    );
    expect(days).to.deep.equal([
      {
        ...{ day, ok: 0, sandbox: 0, failed: 2, rejected: 0, pages: 0, bytes: 0 },
        ...{ p50Ms: null, p95Ms: null },
      },
    ]);
  });

  it('includes when a key was last used', async () => {
    await written();
    const { items } = await (await fixture.createUser({ role: 'viewer' })).good<{
      items: { lastUsedAt: string | null }[];
    }>('GET', `/accounts/${fixture.accountId}/keys`);
    expect(items[0]!.lastUsedAt).to.match(/^\d{4}-/);
  });

  it('is exported as CSV in which no key name is a formula', async () => {
    const account = await fixture.account2();
    const { name } = (await fixture.store.accounts.findOne({ _id: account }))!;
    const { key } = await fixture.accounts.createKey(name, {
      name: '=HYPERLINK("https://example.com")',
    });
    await fixture.store.console.usageDays.insertOne({
      _id: { account, day, key: key.id },
      ...{
        ok: 30,
        sandbox: 0,
        failed: 1,
        bytes: 9,
        pages: 4,
        durations: { [bucketOf(100)]: 30 },
        lastAt: new Date(),
        flushes: [],
      },
    });
    const answer = await (await fixture.createUser({ role: 'billing', account })).call(
      'GET',
      `/accounts/${account}/usage.csv?from=${day}&to=${day}`,
    );
    expect(answer.headers['content-type']).to.match(/^text\/csv/);
    expect(answer.headers['content-disposition']).to.equal(
      `attachment; filename="pressroom-usage-${day}-${day}.csv"`,
    );
    const [head, line, end] = answer.body.toString().split('\r\n');
    expect(head).to.equal('day,key,key_name,ok,sandbox,failed,pages,bytes,p50_ms,p95_ms,rejected');
    expect(line).to.match(
      new RegExp(
        `^${day},${key.id},"'=HYPERLINK\\(""https://example.com""\\)",30,0,1,4,9,(9\\d|10\\d),(9\\d|10\\d),0$`,
      ),
    );
    expect(end).to.equal('');
  });

  it('rejects an invalid range', async () => {
    for (const query of ['?from=2026-01-02&to=2026-01-01', '?from=2020-01-01', '?from=yesterday']) {
      const answer = await person.call('GET', `/accounts/${fixture.accountId}/usage${query}`);
      expect(answer.status, query).to.equal(400);
      expect(answer.error().code).to.equal('validation_error');
    }
  });

  it('is not readable by other accounts', async () => {
    const other = await fixture.createUser({ role: 'owner', account: await fixture.account2() });
    for (const path of ['usage', 'usage.csv', 'overview'])
      expect(
        (await other.call('GET', `/accounts/${fixture.accountId}/${path}`)).status,
        path,
      ).to.equal(404);
  });

  it('appears in the overview', async () => {
    await written();
    const found = await eventually(async () => {
      const overview = await (await fixture.createUser({ role: 'viewer' })).good<Overview>(
        'GET',
        `/accounts/${fixture.accountId}/overview`,
      );
      expect(overview.recent).to.have.length(5);
      expect(overview.lastDay.ok + overview.lastDay.rejected).to.equal(5);
      return overview;
    }, 20_000);
    expect(found.account).to.include({
      id: fixture.accountId,
      name: fixture.account,
      plan: 'scale',
      parallel: 8,
      state: 'active',
    });
    expect(found.usage.count).to.equal(2);
    expect(found).to.include({ running: 0, waiting: 0, keys: 1 });
    expect(found.lastDay).to.deep.include({
      ok: 4,
      failed: 0,
      rejected: 1,
      p50Ms: null,
      p95Ms: null,
    });
    expect(found.errors).to.have.length(1);
    expect(found.errors[0]).to.include({ code: 'validation_error', reason: null, count: 1 });
    expect(found.recent.map(({ outcome }) => outcome)).to.deep.equal([
      'ok',
      'error',
      'ok',
      'ok',
      'ok',
    ]);
  });

  it('appears in the minutes of the installation', async () => {
    await written();
    const operator = await fixture.createUser({ operator: true });
    const { lastMinutes } = await operator.good<Live>('GET', '/operator/live');
    expect(lastMinutes).to.have.length(30);
    expect(lastMinutes.reduce((sum, { ok, rejected }) => sum + ok + rejected, 0)).to.equal(5);
  });
});
