// The process log of API and worker during a render: its line, and nothing that a page or a request
// may keep secret.
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { pino } from 'pino';
import {
  type ConsoleFixture,
  consoleFixture,
  type TestUser,
} from '../../support/console/console-fixture.ts';
import { earlierMessage, mcpCall } from '../../support/console/mcp-call.ts';
import { authorizeApp } from '../../support/console/oauth-flow.ts';
import { eventually } from '../../support/eventually.ts';
import {
  type Answer,
  type Call,
  html,
  type Installation,
  installation,
} from '../../support/installation.ts';
import { startWebServer, type WebServer } from '../../support/servers/web-server.ts';

const WAYS = {
  api: 'a render by the API',
  plain: 'a render by an API without dashboard',
  playground: 'a render in the playground',
  mcp: 'a render by the MCP tool',
  trial: 'a trial render',
} as const;
type Way = keyof typeof WAYS;

describe('the process log of a render', () => {
  let pressroom: ConsoleFixture;
  /** Another API on the same worker. */
  let plain: Installation;
  let plainAccount: string;
  let withAddress: Installation;
  let owner: TestUser;
  let token: string;
  let web: WebServer;
  let base: string;
  const lines: string[] = [];
  const log = pino({ level: 'trace' }, { write: line => void lines.push(line) });
  before(async () => {
    web = await startWebServer({
      '/MARKER-path':
        '<script>console.log("MARKER-console"); throw Error("MARKER-thrown")</script>',
    });
    base = `http://127.0.0.1:${web.port}`;
    const env = {
      PRESSROOM_EGRESS_ALLOW: `127.0.0.1:${web.port}`,
      PRESSROOM_EGRESS_PORTS: '80',
      PRESSROOM_RENDER_TIMEOUT: '20s',
      PRESSROOM_TRIAL_PER_MINUTE: '100',
    };
    pressroom = await consoleFixture({ intranet: true, log, env });
    owner = await pressroom.createUser({ role: 'owner' });
    token = (await authorizeApp(pressroom, owner)).access_token;
    const another = (more: Record<string, string>) =>
      installation({
        ...{ workers: 0, uri: pressroom.uri, log, intranet: true },
        env: { ...env, PRESSROOM_WORKERS: pressroom.worker.address, ...more },
      });
    plain = await another({ PRESSROOM_DASHBOARD: 'off' });
    plainAccount = (await pressroom.store.accounts.findOne({ name: plain.account }))!._id;
    withAddress = await another({
      PRESSROOM_LOG_CLIENT_ADDRESS: 'on',
      PRESSROOM_TRUSTED_PROXIES: '127.0.0.1',
    });
  });
  after(async () => {
    await withAddress?.stop();
    await plain?.stop();
    await pressroom?.stop();
    await web?.close();
  });

  const accountOf = (way: Way) => (way === 'plain' ? plainAccount : pressroom.accountId);

  function send(way: Way, body: object): Call {
    const json = { 'content-type': 'application/json' };
    const text = JSON.stringify(body);
    if (way === 'trial') return pressroom.call('POST', '/v1/trial/render', json, text);
    if (way === 'mcp') {
      const call = { name: 'render_pdf', arguments: body };
      return mcpCall(pressroom, token, earlierMessage('tools/call', call));
    }
    if (way !== 'playground') return (way === 'api' ? pressroom : plain).render(body);
    const path = `/console/v1/accounts/${pressroom.accountId}/playground/render`;
    const headers = { ...json, cookie: owner.cookie, 'sec-fetch-site': 'same-origin' };
    return pressroom.call('POST', path, headers, text);
  }

  /** The line of a call, by the headers of its answer. */
  const lineWith = (headers: Answer['headers']) =>
    eventually((): Record<string, unknown> => {
      const found = lines.find(
        line => line.includes('"msg":"request"') && line.includes(headers['x-request-id']!),
      );
      if (found === undefined) throw new Error('no line');
      return JSON.parse(found);
    });

  const lineOf = async (body: object) => lineWith((await pressroom.render(body)).headers);

  /** The documented fields of the line. */
  const documented = () => {
    const page = readFileSync(new URL('../../../docs/operations.md', import.meta.url), 'utf8');
    const table = /\| field \| contents \|\n.*\n((?:\|.*\n)+)/.exec(page)![1]!;
    return table
      .split('\n')
      .flatMap(row => [...row.split(' | ')[0]!.matchAll(/`(\w+)`/g)])
      .map(([, name]) => name!);
  };

  it('has only documented fields', async () => {
    const always = ['level', 'time', 'pid', 'hostname', 'msg'];
    const body = { html: html(`<img src="${base}/a.png">`), reference: 'order-7' };
    const found = [
      await lineOf(body),
      await lineOf({ ...body, fail_on_resource_error: true }),
      await lineWith((await withAddress.call('GET', '/docs')).headers),
    ];
    const names = new Set(found.flatMap(line => Object.keys(line)));
    expect([...names].filter(name => !always.includes(name))).to.have.members(documented());
  });

  for (const way of Object.keys(WAYS) as Way[])
    describe(`of ${WAYS[way]}`, () => {
      const sent = async (body: object) => lineWith((await send(way, body)).headers);
      const image = () => html(`<img src="${base}/a.png">`);

      it('has the outcome and the facts of the render', async () => {
        const line = await sent({ html: image(), reference: 'order-7' });
        expect(line).to.include({
          ...{ status: 200, outcome: 'succeeded', pages: 1, resourceErrors: 1 },
          reference: 'order-7',
        });
        expect(line).to.not.have.any.keys('code', 'reason');
        expect(line['phases']).to.include.keys('admit', 'queue', 'load', 'print', 'other');
        const sum = Object.values(line['phases'] as Record<string, number>).reduce((a, b) => a + b);
        expect(sum).to.be.at.most((line['ms'] as number) + 1);
        const { load, wait, print, post = 0 } = line['phases'] as Record<string, number>;
        expect(line['renderMs']).to.be.closeTo(load! + wait! + print! + post, 0.2);
        expect(line['bytes']).to.be.greaterThan(1_000);
        expect(line['accountId']).to.equal(way === 'trial' ? undefined : accountOf(way));
      });

      it('has the facts of a render that fails', async () => {
        const body = { html: image(), fail_on_resource_error: true, reference: 'order-8' };
        const line = await sent(body);
        expect(line).to.include({
          ...{ outcome: 'failed', code: 'render_failed', reason: 'page_status' },
          ...{ status: way === 'mcp' ? 200 : 502, resourceErrors: 1, reference: 'order-8' },
        });
        expect(line['phases']).to.include.keys('admit', 'queue', 'load', 'other');
        expect(line).to.not.have.property('pages');
      });

      it('has the outcome of a rejected request', async () => {
        const line = await sent({ html: 'x', landscape: 7, reference: 'order-9' });
        expect(line).to.include({
          ...{ outcome: 'rejected', code: 'validation_error', reference: 'order-9' },
          status: way === 'mcp' ? 200 : 400,
        });
        expect(line).to.not.have.any.keys('phases', 'renderMs');
      });

      it('has the outcome of a canceled render', async () => {
        const reference = `canceled ${way}`;
        const call = send(way, { html: html('x'), wait_delay: '10s', reference });
        call.catch(() => {});
        await pressroom.worker.until({ busy: 1 });
        call.disconnect();
        const line = await eventually(() => {
          const found = lines.find(each => each.includes(reference));
          if (found === undefined) throw new Error('no line');
          return JSON.parse(found) as Record<string, unknown>;
        });
        expect(line).to.include({ outcome: 'canceled', code: 'client_closed' });
        expect(line['phases']).to.include.keys('admit', 'queue');
      });
    });

  it('is at the level debug for successful probes and reads of the dashboard', async () => {
    const levelOf = async (method: string, path: string) => {
      const { headers } = await pressroom.call(method, path);
      return pino.levels.labels[(await lineWith(headers))['level'] as number];
    };
    expect(await levelOf('GET', '/healthz')).to.equal('debug');
    expect(await levelOf('GET', '/app/sign-in')).to.equal('debug');
    expect(await levelOf('GET', '/console/v1/openapi.json')).to.equal('debug');
    expect(await levelOf('GET', '/console/v1/me')).to.equal('info');
    expect(await levelOf('POST', '/app/sign-in')).to.equal('info');
    expect(await levelOf('GET', '/docs')).to.equal('info');
  });

  it('has the address of the client only with PRESSROOM_LOG_CLIENT_ADDRESS=on', async () => {
    expect(await lineOf({ html: html('x') })).to.not.have.property('clientAddress');
    const { headers } = await withAddress.call('POST', '/v1/render', {
      'x-forwarded-for': '203.0.113.7, 2001:db8::1',
    });
    expect(await lineWith(headers)).to.include({ status: 401, clientAddress: '2001:db8::1' });
  });

  /** Each contains a marker that neither the API nor the worker may log. */
  const marked = (): [body: object, outcome: string][] => {
    const secrets = {
      extra_http_headers: { 'X-Own': 'MARKER-header' },
      cookies: [{ name: 'a', value: 'MARKER-cookie', domain: '127.0.0.1' }],
      css: 'p { --a: "MARKER-css" }',
    };
    const page = { url: `${base}/MARKER-path?token=MARKER-query#MARKER-fragment`, ...secrets };
    const resource = html(`MARKER-html<img src="${base}/MARKER.png?MARKER-resource">`);
    const dead = 'http://marker-host.invalid/MARKER-dead';
    return [
      [{ ...page, javascript: 'console.error("MARKER-script")' }, 'succeeded'],
      [{ ...page, javascript: 'throw Error("MARKER-own-error")' }, 'rejected'],
      [{ ...page, wait_for_expression: 'MARKER_expression()', timeout: '1s' }, 'failed'],
      [{ ...page, wait_for_selector: '#MARKER-selector', timeout: '1s' }, 'failed'],
      [{ html: resource, ...secrets }, 'succeeded'],
      [{ html: resource, ...secrets, fail_on_resource_error: true }, 'failed'],
      [{ html: html(`<img src="${dead}">`), fail_on_resource_error: true }, 'failed'],
      [{ url: `${base}/missing?MARKER-missing` }, 'failed'],
      [{ url: dead }, 'failed'],
      [{ url: 'http://10.0.0.1/MARKER-private' }, 'rejected'],
      [{ html: 'MARKER-invalid', landscape: 'MARKER-value' }, 'rejected'],
    ];
  };

  for (const way of ['api', 'playground', 'mcp'] as const)
    it(`has no URL, console output, exception, code, header or cookie of ${WAYS[way]}`, async function () {
      this.timeout(60_000);
      const outcomes: unknown[] = [];
      for (const [body] of marked())
        outcomes.push((await lineWith((await send(way, body)).headers))['outcome']);
      expect(outcomes).to.deep.equal(marked().map(([, outcome]) => outcome));
      expect(lines.filter(line => /MARKER/i.test(line))).to.deep.equal([]);
    });

  it('has no content of a trial render', async () => {
    const failing = { wait_for_expression: 'MARKER_expression()', timeout: '1s' };
    const body = { html: html('MARKER-html'), ...failing };
    const { headers } = await send('trial', body);
    expect(await lineWith(headers)).to.include({ outcome: 'failed' });
    expect(lines.filter(line => /MARKER/i.test(line))).to.deep.equal([]);
  });
});
