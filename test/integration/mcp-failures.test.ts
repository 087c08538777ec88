// What the tool answers when something fails on our side, with a use case and a kept PDF that the test makes fail.
import { expect } from 'chai';
import { createRenderLog } from '../../api/console/log/render-log.ts';
import { mcpRoutes } from '../../api/console/mcp/mcp.ts';
import { createByteBudget } from '../../api/http/byte-budget.ts';
import { NoPrimary } from '../../api/store/store.ts';
import { silentLog } from '../../common/log.ts';
import { createMetrics } from '../../common/operations.ts';
import { httpCall } from '../support/http-call.ts';
import { type HttpRig, httpRig } from '../support/http-rig.ts';
import { type LeaseRig, leaseRig } from '../support/lease-rig.ts';

const publicUrl = 'http://localhost:8080';
const rendered = { pdf: Buffer.from('%PDF-'), pages: 1, sandbox: true, usage: undefined, timings: {} };

describe('the tool render_pdf, when something fails on our side', () => {
  let rig: LeaseRig;
  let http: HttpRig;
  let render: () => Promise<typeof rendered>;
  let verify: () => Promise<{ user: string; account: string; clientId: string; grantId: string }>;
  let broken: Error | undefined;
  const budget = createByteBudget(100_000);
  before(async () => {
    rig = await leaseRig();
    const { id: account } = await rig.account('free');
    verify = async () => ({ user: 'ada', account, clientId: 'an app', grantId: 'a grant' });
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
});
