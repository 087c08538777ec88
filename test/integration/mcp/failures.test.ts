// @proves POST /mcp
// The results of the tool when the service fails, with stubs for the use case and the database.
import { expect } from 'chai';
import { createAccountRequests } from '../../../api/accounts/account-requests.ts';
import { mcpRoutes } from '../../../api/console/mcp/mcp.ts';
import { RenderLog } from '../../../api/history/render-log.ts';
import { createByteBudget } from '../../../api/http/byte-budget.ts';
import { NoPrimary } from '../../../api/store/store.ts';
import { renderFailed } from '../../../common/contract/errors.ts';
import { silentLog } from '../../../common/log.ts';
import { createMetrics } from '../../../common/operations.ts';
import { earlierMessage, type Message, mcpCall } from '../../support/console/mcp-call.ts';
import { callsCounted } from '../../support/counted.ts';
import { eventually } from '../../support/eventually.ts';
import { httpCall } from '../../support/http-call.ts';
import { type HttpFixture, httpFixture } from '../../support/http-fixture.ts';
import { type LeaseFixture, leaseFixture, plans } from '../../support/lease-fixture.ts';
import { reserveForOthers } from '../../support/reserved-budget.ts';

const publicUrl = 'http://localhost:8080';
const rendered = {
  pdf: Buffer.from('%PDF-'),
  pages: 1,
  sandbox: true,
  usage: undefined,
};

describe('the tool render_pdf, when the service fails', () => {
  let fixture: LeaseFixture;
  let http: HttpFixture;
  let render: () => Promise<typeof rendered>;
  let account: string;
  const access = async () => ({
    user: 'ada',
    account,
    clientId: 'an app',
    clientName: 'An App',
    grantId: 'a grant',
  });
  let verify = access;
  let broken: Error | undefined;
  const budget = createByteBudget(100_000);
  before(async () => {
    fixture = await leaseFixture();
    ({ id: account } = await fixture.account('free'));
    const store = {
      ...fixture.store,
      primary: {
        ...fixture.store.primary,
        throwIfMissing: () => {
          if (broken) throw broken;
        },
      },
    };
    const renders = new RenderLog(
      fixture.store,
      silentLog,
      createMetrics({ processDefaults: false }),
    );
    const routes = mcpRoutes({
      ...{
        publicUrl,
        resource: `${publicUrl}/mcp`,
        store,
        renders,
        budget,
        requests: createAccountRequests(fixture.store, plans),
        log: silentLog,
      },
      tokens: { verify: () => verify() },
      render: () => render(),
      links: { ttlMs: 60_000, accountMaxBytes: 2 ** 20 },
      rules: { ports: [80], allowPorts: [], maxTimeoutMs: 60_000 },
      ...{ bodyMaxBytes: 1_000_000, renderMs: 60_000, outputMaxBytes: 2 ** 20 },
    });
    http = await httpFixture(fixture, { budget, console: { routes, renders } });
  });
  after(async () => {
    await http?.close();
    await fixture?.reset();
    await fixture?.close();
  });
  afterEach(() => {
    broken = undefined;
    verify = access;
    expect(budget.used()).to.equal(0);
  });

  /** The access log line of a call, once it is written. */
  const lineOf = async (id: string) =>
    eventually(() => {
      const line = http.lines.find(({ msg, requestId }) => msg === 'request' && requestId === id);
      expect(line).to.be.an('object');
      return line!;
    });

  const send = (message: Message) => mcpCall({ api: http.server }, 'x', message);
  const ask = (html: string) =>
    send(earlierMessage('tools/call', { name: 'render_pdf', arguments: { html } }));

  it('returns the reason without the internal error', async () => {
    render = async () => {
      throw new TypeError('a fault in our code');
    };
    const { status, body } = await ask('x');
    expect(status).to.equal(200);
    expect(body.toString())
      .to.include('"isError":true')
      .and.include('render_failed (internal): ')
      .and.not.include('a fault');
  });

  it('returns unavailable with a retry time when the PDF cannot be stored', async () => {
    render = async () => {
      broken = new NoPrimary(20_000);
      return rendered;
    };
    const { body } = await ask('x');
    expect(body.toString())
      .to.include('"isError":true')
      .and.include('unavailable: ')
      .and.include('Try again in 1 s.');
  });

  it('rejects concurrent requests of an account beyond its plan plus eight, before reading the body', async () => {
    const { promise, resolve: release } = Promise.withResolvers<void>();
    let running = 0;
    render = async () => {
      running += 1;
      await promise;
      return rendered;
    };
    const open = Array.from({ length: 9 }, () => ask('x'));
    await eventually(() => expect(running).to.equal(9));
    const answer = await ask('x');
    expect(answer.status).to.equal(429);
    expect(answer.error().code).to.equal('concurrency_limit');
    release();
    expect((await Promise.all(open)).map(({ status }) => status)).to.deep.equal(Array(9).fill(200));
  });

  it('rejects a body beyond the byte budget, before reading it', async () => {
    const release = reserveForOthers(budget, 90_000);
    const answer = await ask('x'.repeat(5_000));
    release();
    expect(answer.status).to.equal(502);
    expect(answer.error()).to.include({ code: 'render_failed', reason: 'overloaded' });
  });

  it('responds 503 when the database cannot verify the token', async () => {
    verify = async () => {
      throw new NoPrimary(20_000);
    };
    const answer = await ask('x');
    expect([answer.status, answer.error().code, answer.headers['retry-after']]).to.deep.equal([
      503,
      'unavailable',
      '1',
    ]);
  });

  it('records the reason of a failed render in log and metrics, although the status is 200', async () => {
    render = async () => {
      throw renderFailed('queue_full', 'Too many renders are queued.', { retryAfterS: 3 });
    };
    const before = await callsCounted(http, '/mcp', 'queue_full');
    const { status, body, headers } = await ask('x');
    expect(status).to.equal(200);
    expect(body.toString()).to.include(
      'render_failed (queue_full): Too many renders are queued.\\nTry again in 3 s.',
    );
    const line = await lineOf(headers['x-request-id']!);
    expect(line).to.include({
      path: '/mcp',
      status: 200,
      code: 'render_failed',
      reason: 'queue_full',
      accountId: account,
    });
    expect(await callsCounted(http, '/mcp', 'queue_full')).to.equal(before + 1);
  });

  it('states the retry time once', async () => {
    render = async () => {
      throw renderFailed('queue_full', 'Too many renders are queued. Try again in 3 s.', {
        retryAfterS: 3,
      });
    };
    expect((await ask('x')).body.toString().match(/again in 3 s/g)).to.have.length(1);
  });

  it('counts a message that the protocol rejects as validation_error', async () => {
    const before = await callsCounted(http, '/mcp', 'validation_error');
    const answer = await send({ body: '{}' });
    expect(answer.status).to.equal(400);
    expect(await lineOf(answer.headers['x-request-id']!)).to.include({
      status: 400,
      code: 'validation_error',
    });
    expect(await callsCounted(http, '/mcp', 'validation_error')).to.equal(before + 1);
  });

  it('returns and logs unavailable when a PDF cannot be read from the database', async () => {
    broken = new NoPrimary(20_000);
    const answer = await send(earlierMessage('resources/read', { uri: 'render://x' }));
    expect(answer.body.toString()).to.include('cannot reach its database').and.include('-32603');
    expect(await lineOf(answer.headers['x-request-id']!)).to.include({
      status: 200,
      code: 'unavailable',
    });
  });

  it('counts all links as one route and logs no token', async () => {
    const secret = 'a'.repeat(43);
    const { headers } = await httpCall(http.server.port(), 'GET', `/files/${secret}`);
    expect(await lineOf(headers['x-request-id']!)).to.include({
      path: '/files/…',
      code: 'not_found',
    });
    expect(JSON.stringify(http.lines)).to.not.include(secret);
    expect(await callsCounted(http, '/files/:token', 'not_found')).to.equal(1);
  });
});
