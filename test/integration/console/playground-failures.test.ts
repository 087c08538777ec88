// The responses of the playground to internal failures, with a use case that the test makes fail.
import { expect } from 'chai';
import { createAccountRequests } from '../../../api/accounts/account-requests.ts';
import { createSessions } from '../../../api/console/auth/sessions.ts';
import { createCookies } from '../../../api/console/kit/cookies.ts';
import { consoleRoutes } from '../../../api/console/routes/console-router.ts';
import { playgroundRoutes } from '../../../api/console/routes/playground.ts';
import { RenderLog } from '../../../api/history/render-log.ts';
import { createByteBudget } from '../../../api/http/byte-budget.ts';
import { silentLog } from '../../../common/log.ts';
import { createMetrics } from '../../../common/operations.ts';
import { eventually } from '../../support/eventually.ts';
import { type HttpFixture, httpFixture } from '../../support/http-fixture.ts';
import { type LeaseFixture, leaseFixture, plans } from '../../support/lease-fixture.ts';
import { reserveForOthers } from '../../support/reserved-budget.ts';

const publicUrl = 'http://localhost:8080';

describe('the playground after an internal failure', () => {
  let fixture: LeaseFixture;
  let http: HttpFixture;
  let account: string;
  let cookie: string;
  const budget = createByteBudget(100_000);
  /** Renders wait until this resolves. */
  let held: Promise<void> | undefined;
  before(async () => {
    fixture = await leaseFixture();
    const { store } = fixture;
    const sessions = createSessions(store);
    const render = async () => {
      await held;
      throw new TypeError('a fault in our code');
    };
    const renders = new RenderLog(store, silentLog, createMetrics({ processDefaults: false }));
    const rows = playgroundRoutes({
      store,
      render,
      renders,
      rules: { ports: [80], allowPorts: [], maxTimeoutMs: 60_000 },
      bodyMaxBytes: 1_000_000,
    });
    const around = {
      publicUrl,
      store,
      sessions,
      cookies: createCookies(publicUrl),
      budget,
      requests: createAccountRequests(store, plans),
      trustedProxies: [],
    };
    http = await httpFixture(fixture, {
      budget,
      console: { routes: consoleRoutes(rows, around), renders },
    });
    account = (await fixture.account('free')).id;
    await store.console.users.insertOne({
      _id: 'ada',
      email: 'ada@example.com',
      name: 'Ada',
      operator: false,
      identities: [],
      createdAt: new Date(),
    });
    await store.console.teams.insertOne({
      _id: account,
      members: [{ user: 'ada', role: 'owner', since: new Date() }],
      invitations: [],
    });
    const { token } = await sessions.open({
      user: 'ada',
      method: 'password',
      ip: '127.0.0.1',
      userAgent: 'a test',
    });
    cookie = `__Host-pressroom-session=${token}`;
  });
  after(async () => {
    await http?.close();
    await fixture?.reset();
    await fixture?.close();
  });

  const ask = (body: string) =>
    http.ask(
      `POST /console/v1/accounts/${account}/playground/render HTTP/1.1\nCookie: ${cookie}\nContent-Type: application/json\nContent-Length: ${body.length}`,
      body,
    );

  it('returns a failed render with its reason and no details, as /v1/render does', async () => {
    const answer = await ask('{"html":"x"}');
    expect(answer.status).to.equal(502);
    expect(answer.json().error).to.include({ code: 'render_failed', reason: 'internal' });
    expect(answer.body.toString()).to.not.include('fault');
    expect(http.lines.filter(({ msg }) => msg === 'unexpected error')).to.have.length(1);
  });

  it('rejects more requests of an account than its plan allows plus eight, before reading their bodies', async () => {
    const { promise, resolve: letGo } = Promise.withResolvers<void>();
    held = promise;
    const open = Array.from({ length: 9 }, () => ask('{"html":"x"}'));
    await eventually(() => expect(budget.used()).to.equal(9 * 3 * 12));
    const answer = await ask('{"html":"x"}');
    expect(answer.status).to.equal(429);
    expect(answer.json().error.code).to.equal('concurrency_limit');
    expect(answer.headers['x-concurrency-limit']).to.equal('1');
    letGo();
    expect((await Promise.all(open)).map(({ status }) => status)).to.deep.equal(Array(9).fill(502));
  });

  it('rejects a body beyond the byte budget before reading it', async () => {
    const free = reserveForOthers(budget, 90_000);
    const answer = await ask(JSON.stringify({ html: 'x'.repeat(5_000) }));
    free();
    expect(answer.status).to.equal(502);
    expect(answer.json().error).to.include({ code: 'render_failed', reason: 'overloaded' });
    expect(answer.headers['retry-after']).to.equal('2');
    expect(budget.used()).to.equal(0);
  });
});
