// What the tool answers when something fails on our side, with a use case and a kept PDF that the test makes fail.
import { expect } from 'chai';
import { createRenderLog } from '../../api/console/log/render-log.ts';
import { mcpRoutes } from '../../api/console/mcp/mcp.ts';
import { renderFailed } from '../../api/contract/errors.ts';
import { createByteBudget } from '../../api/http/byte-budget.ts';
import { NoPrimary } from '../../api/store/store.ts';
import { silentLog } from '../../common/log.ts';
import { createMetrics } from '../../common/operations.ts';
import { eventually } from '../support/eventually.ts';
import { httpCall } from '../support/http-call.ts';
import { type HttpRig, httpRig } from '../support/http-rig.ts';
import { type LeaseRig, leaseRig } from '../support/lease-rig.ts';

const publicUrl = 'http://localhost:8080';
const rendered = { pdf: Buffer.from('%PDF-'), pages: 1, sandbox: true, usage: undefined, timings: {} };

describe('the tool render_pdf, when something fails on our side', () => {
  let rig: LeaseRig;
  let http: HttpRig;
  let render: () => Promise<typeof rendered>;
  let verify: () => Promise<{ user: string; account: string; clientId: string; clientName: string; grantId: string }>;
  let broken: Error | undefined;
  const budget = createByteBudget(100_000);
  before(async () => {
    rig = await leaseRig();
    const { id: account } = await rig.account('free');
    verify = async () => ({ user: 'ada', account, clientId: 'an app', clientName: 'An App', grantId: 'a grant' });
    const store = {
      ...rig.store,
      primary: {
        ...rig.store.primary,
        throwIfMissing: () => {
          if (broken) throw broken;
        },
      },
    };
    const renders = createRenderLog(rig.store, silentLog, createMetrics({ processDefaults: false }));
    const routes = mcpRoutes({
      ...{ publicUrl, resource: `${publicUrl}/mcp`, store, renders, budget, log: silentLog },
      tokens: { verify: () => verify() },
      render: () => render(),
      links: { ttlMs: 60_000, accountMaxBytes: 2 ** 20 },
      ports: { ports: [80], allowPorts: [] },
      ...{ inFlightMaxBytes: 100_000, bodyMaxBytes: 1_000_000, renderMs: 60_000, outputMaxBytes: 2 ** 20 },
    });
    http = await httpRig(rig, { budget, console: { routes, renders } });
  });
  after(async () => {
    await http?.close();
    await rig?.reset();
    await rig?.close();
  });
  afterEach(() => {
    broken = undefined;
    expect(budget.used()).to.equal(0);
  });

  /** The access line of the last call, once it is written. */
  const lineOf = async (id: string) =>
    eventually(() => {
      const line = http.lines.find(({ msg, requestId }) => msg === 'request' && requestId === id);
      expect(line).to.be.an('object');
      return line!;
    });

  const ask = (html: string) => {
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'render_pdf', arguments: { html } } };
    const body = JSON.stringify(message);
    const headers = { authorization: 'Bearer x', 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    return httpCall(http.server.port(), 'POST', '/mcp', { ...headers, 'content-length': String(body.length) }, body);
  };

  it('tells the reason and no word of the fault', async () => {
    render = async () => {
      throw new TypeError('a fault in our code');
    };
    const { status, body } = await ask('x');
    expect(status).to.equal(200);
    expect(body.toString()).to.include('"isError":true').and.include('render_failed (internal): ').and.not.include('a fault');
  });

  it('says that the PDF could not be kept, and when to try again', async () => {
    render = async () => {
      broken = new NoPrimary(20_000);
      return rendered;
    };
    const { body } = await ask('x');
    expect(body.toString()).to.include('"isError":true').and.include('unavailable: ').and.include('Try again in 1 s.');
  });

  it('refuses a body for which the process has no room, before reading it', async () => {
    const answer = await ask('x'.repeat(50_000));
    expect(answer.status).to.equal(502);
    expect(answer.error()).to.include({ code: 'render_failed', reason: 'overloaded' });
  });

  it('says so when the database cannot tell whose token it is', async () => {
    const before = verify;
    verify = async () => {
      throw new NoPrimary(20_000);
    };
    const answer = await ask('x');
    verify = before;
    expect([answer.status, answer.error().code, answer.headers['retry-after']]).to.deep.equal([503, 'unavailable', '1']);
  });

  it('shows in the log and in the metrics why a render failed, though HTTP says 200', async () => {
    render = async () => {
      throw renderFailed('queue_full', 'Too many renders are waiting.', { retryAfterS: 3 });
    };
    const { status, body, headers } = await ask('x');
    expect(status).to.equal(200);
    expect(body.toString()).to.include('render_failed (queue_full): Too many renders are waiting.\\nTry again in 3 s.');
    const { account } = await verify();
    const line = await lineOf(headers['x-request-id']!);
    expect(line).to.include({ path: '/mcp', status: 200, code: 'render_failed', reason: 'queue_full', accountId: account });
    expect(await http.metrics.text()).to.match(/^pressroom_http_requests_total{route="\/mcp",outcome="queue_full"} 1$/m);
  });

  it('says once when to try again', async () => {
    render = async () => {
      throw renderFailed('queue_full', 'Too many renders are waiting. Try it again in 3 s.', { retryAfterS: 3 });
    };
    expect((await ask('x')).body.toString().match(/again in 3 s/g)).to.have.length(1);
  });

  it('counts a message that the protocol refuses as the mistake of its sender', async () => {
    const headers = { authorization: 'Bearer x', 'content-type': 'application/json', 'content-length': '2' };
    const answer = await httpCall(http.server.port(), 'POST', '/mcp', headers, '{}');
    expect(answer.status).to.equal(400);
    expect(await lineOf(answer.headers['x-request-id']!)).to.include({ status: 400, code: 'validation_error' });
    expect(await http.metrics.text()).to.match(/route="\/mcp",outcome="validation_error"} 1$/m);
  });

  it('says that a PDF cannot be read when the database fails, and shows it in the log', async () => {
    const message = { jsonrpc: '2.0', id: 1, method: 'resources/read', params: { uri: 'render://x' } };
    const text = JSON.stringify(message);
    broken = new NoPrimary(20_000);
    const headers = { authorization: 'Bearer x', 'content-type': 'application/json', accept: '*/*', 'content-length': String(text.length) };
    const answer = await httpCall(http.server.port(), 'POST', '/mcp', headers, text);
    expect(answer.body.toString()).to.include('cannot reach its database').and.include('-32603');
    expect(await lineOf(answer.headers['x-request-id']!)).to.include({ status: 200, code: 'unavailable' });
  });

  it('counts all links as one route, and logs none', async () => {
    const secret = 'a'.repeat(43);
    const { headers } = await httpCall(http.server.port(), 'GET', `/files/${secret}`);
    expect(await lineOf(headers['x-request-id']!)).to.include({ path: '/files/…', code: 'not_found' });
    expect(JSON.stringify(http.lines)).to.not.include(secret);
    expect(await http.metrics.text()).to.match(/^pressroom_http_requests_total{route="\/files\/:token",outcome="not_found"} 1$/m);
  });
});
