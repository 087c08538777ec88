// @proves usage
// The figures of one day of mixed calls: home, usage and live screens, the usage header, the
// account and the metrics show the same numbers.
import { expect } from 'chai';
import type {
  Live,
  Overview,
  RenderSummary,
  Usage,
} from '../../../api/console/contract/accounts.ts';
import type { AccountAnswer, UsageAnswer } from '../../../common/contract/account.ts';
import { readSamples } from '../../fault/harness/samples.ts';
import {
  type ConsoleFixture,
  consoleFixture,
  type TestUser,
} from '../../support/console/console-fixture.ts';
import { eventually } from '../../support/eventually.ts';
import { html } from '../../support/installation.ts';
import { startWebServer, type WebServer } from '../../support/servers/web-server.ts';

const RENDERS = 180;
const SANDBOX = 40;
const TEST_KEY = 10;
const FAILED = 30;
const INVALID = 200;
const BLOCKED = 30;
const PLAYGROUND = 10;
const UNAUTHORIZED = 10;
const AT_ONCE = 6;

/** Runs `call` `times` times, AT_ONCE of them at a time. */
async function repeat(times: number, call: () => Promise<void>): Promise<void> {
  let left = times;
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      while (left-- > 0) await call();
    }),
  );
}

/** The sums of these fields over all rows. */
const sums = <T extends string>(rows: Record<T, number>[], ...fields: T[]) =>
  Object.fromEntries(fields.map(field => [field, rows.reduce((sum, row) => sum + row[field], 0)]));

describe('the figures of a day of 500 mixed calls', function () {
  this.timeout(180_000);
  let fixture: ConsoleFixture;
  let web: WebServer;
  let owner: TestUser;
  let lastCount = 0;
  before(async () => {
    web = await startWebServer({});
    fixture = await consoleFixture({
      intranet: true,
      env: { PRESSROOM_EGRESS_ALLOW: `127.0.0.1:${web.port}` },
    });
    owner = await fixture.createUser({ role: 'owner' });
    const status = (body: unknown, expected: number) => async () => {
      const answer = await fixture.render(body);
      expect(answer.status, answer.body.toString().slice(0, 300)).to.equal(expected);
      const count = answer.headers['x-usage-count'];
      if (count !== undefined) lastCount = Math.max(lastCount, Number(count));
    };
    await repeat(RENDERS, status({ html: html('one') }, 200));
    await repeat(SANDBOX, status({ html: html('two'), sandbox: true }, 200));
    const { text } = await fixture.accounts.createKey(fixture.account, { name: 'ci', test: true });
    await repeat(TEST_KEY, async () => {
      const headers = { authorization: `Bearer ${text}` };
      expect((await fixture.render({ html: html('test key') }, headers)).status).to.equal(200);
    });
    await repeat(FAILED, status({ url: `http://127.0.0.1:${web.port}/missing` }, 502));
    await repeat(INVALID, status({ html: html('four'), format: 'none' }, 400));
    await repeat(BLOCKED, status({ url: 'http://10.0.0.1/' }, 422));
    await repeat(PLAYGROUND, async () => {
      const path = `/accounts/${fixture.accountId}/playground/render`;
      expect((await owner.call('POST', path, { html: html('five') })).status).to.equal(200);
    });
    await repeat(UNAUTHORIZED, async () => {
      const answer = await fixture.call('POST', '/v1/render', {
        authorization: `Bearer ${fixture.key.slice(0, -1)}x`,
      });
      expect(answer.status).to.equal(401);
    });
  });
  after(async () => {
    await fixture?.stop();
    await web?.close();
  });

  it('are the same on all screens, in the header, in the account and in the metrics', async () => {
    const rejected = INVALID + BLOCKED;
    // The playground renders in sandbox mode.
    const sandbox = SANDBOX + TEST_KEY + PLAYGROUND;
    const succeeded = RENDERS + sandbox;
    const account = `/accounts/${fixture.accountId}`;
    // The usage is written last, and a few seconds late.
    await eventually(async () => {
      const { days, keys } = await owner.good<Usage>('GET', `${account}/usage`);
      for (const rows of [days, keys])
        expect(sums(rows, 'ok', 'sandbox', 'failed', 'rejected')).to.deep.equal({
          ok: RENDERS,
          sandbox,
          failed: FAILED,
          rejected,
        });
    }, 30_000);

    const read = async <T>(path: string) => {
      const answer = await fixture.call('GET', path, { authorization: `Bearer ${fixture.key}` });
      return JSON.parse(answer.body.toString()) as T;
    };
    for (const group of ['day', 'key']) {
      const { items, total } = await read<UsageAnswer>(`/v1/usage?group_by=${group}`);
      const figures = { counted: RENDERS, sandbox, failed: FAILED, rejected };
      expect(total).to.include(figures);
      expect(sums(items, 'counted', 'sandbox', 'failed', 'rejected')).to.deep.equal(figures);
    }
    expect((await read<AccountAnswer>('/v1/account')).usage.count).to.equal(RENDERS);

    const home = await eventually(async () => {
      const overview = await owner.good<Overview>('GET', `${account}/overview`);
      expect(overview.lastDay).to.include({ ok: succeeded, failed: FAILED, rejected });
      return overview;
    }, 30_000);
    expect(home.usage.count).to.equal(RENDERS);
    expect([lastCount, await fixture.usage()]).to.deep.equal([RENDERS, RENDERS]);
    expect(home.lastDay.p50Ms).to.be.greaterThan(0);
    expect(home.errors.map(({ code, count }) => [code, count]).toSorted()).to.deep.equal([
      ['render_failed', FAILED],
      ['ssrf_blocked', BLOCKED],
      ['validation_error', INVALID],
    ]);

    const operator = await fixture.createUser({ operator: true });
    const { lastMinutes } = await operator.good<Live>('GET', '/operator/live');
    expect(sums(lastMinutes, 'ok', 'failed', 'rejected')).to.deep.equal({
      ok: succeeded,
      failed: FAILED,
      rejected,
    });
    const seen = await operator.good<Overview>('GET', `${account}/overview`);
    expect(seen.lastDay).to.deep.include(home.lastDay);

    const samples = readSamples(await fixture.metrics.text());
    expect(samples.by('pressroom_renders_total', 'outcome')).to.include({
      ok: succeeded,
      page_status: FAILED,
    });
    // These requests do not get as far as a render.
    expect(samples.by('pressroom_http_requests_total', 'outcome')).to.include({
      validation_error: INVALID,
      ssrf_blocked: BLOCKED,
      unauthorized: UNAUTHORIZED,
    });
  });

  it('are the sums of the render log, filtered by status', async () => {
    const countOf = async (status: string) => {
      let total = 0;
      for (let cursor = ''; ; ) {
        const { items, next } = await owner.good<{ items: RenderSummary[]; next: string | null }>(
          'GET',
          `/accounts/${fixture.accountId}/renders?status=${status}&limit=100${cursor}`,
        );
        total += items.reduce((sum, { times }) => sum + times, 0);
        if (next === null) return total;
        cursor = `&cursor=${encodeURIComponent(next)}`;
      }
    };
    const all = await Promise.all(['ok', 'failed', 'rejected', 'error'].map(countOf));
    const rejected = INVALID + BLOCKED;
    expect(all).to.deep.equal([
      RENDERS + SANDBOX + TEST_KEY + PLAYGROUND,
      FAILED,
      rejected,
      FAILED + rejected,
    ]);
  });
});
