// The process log of API and worker during a render: its line, and nothing that a page or a request
// may keep secret.
import { expect } from 'chai';
import { pino } from 'pino';
import { type ConsoleFixture, consoleFixture } from '../../support/console/console-fixture.ts';
import { eventually } from '../../support/eventually.ts';
import { type Answer, html, installation } from '../../support/installation.ts';
import { startWebServer, type WebServer } from '../../support/servers/web-server.ts';

describe('the process log of a render', () => {
  let pressroom: ConsoleFixture;
  let web: WebServer;
  let base: string;
  const lines: string[] = [];
  before(async () => {
    web = await startWebServer({
      '/page': '<script>console.log("MARKER-console"); throw Error("MARKER-thrown")</script>',
    });
    base = `http://127.0.0.1:${web.port}`;
    pressroom = await consoleFixture({
      intranet: true,
      log: pino({ level: 'trace' }, { write: line => void lines.push(line) }),
      env: {
        PRESSROOM_EGRESS_ALLOW: `127.0.0.1:${web.port}`,
        PRESSROOM_EGRESS_PORTS: '80',
        PRESSROOM_RENDER_TIMEOUT: '2s',
      },
    });
  });
  after(async () => {
    await pressroom?.stop();
    await web?.close();
  });

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

  it('has a line with pages, failed requests and reference', async () => {
    const body = { html: html(`<img src="${base}/a.png">`), reference: 'order-7' };
    expect(await lineOf(body)).to.include({
      accountId: pressroom.accountId,
      status: 200,
      pages: 1,
      resourceErrors: 1,
      reference: 'order-7',
    });
    const failed = await lineOf({ ...body, fail_on_resource_error: true });
    expect(failed).to.include({
      code: 'render_failed',
      reason: 'page_status',
      resourceErrors: 1,
    });
    expect(failed).to.not.have.property('pages');
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
    const withAddress = await installation({
      workers: 0,
      uri: pressroom.uri,
      log: pino({ level: 'debug' }, { write: line => void lines.push(line) }),
      env: { PRESSROOM_LOG_CLIENT_ADDRESS: 'on', PRESSROOM_TRUSTED_PROXIES: '127.0.0.1' },
    });
    try {
      const { headers } = await withAddress.call('POST', '/v1/render', {
        'x-forwarded-for': '203.0.113.7, 2001:db8::1',
      });
      expect(await lineWith(headers)).to.include({ status: 401, clientAddress: '2001:db8::1' });
    } finally {
      await withAddress.stop();
    }
  });

  it('has no query, console output, exception, code, header or cookie', async () => {
    const secrets = {
      extra_http_headers: { 'X-Own': 'MARKER-header' },
      cookies: [{ name: 'a', value: 'MARKER-cookie', domain: '127.0.0.1' }],
      css: 'p { --a: "MARKER-css" }',
    };
    const page = { url: `${base}/page?token=MARKER-query`, ...secrets };
    const bodies = [
      { ...page, javascript: '"MARKER-script"' },
      { ...page, javascript: 'throw Error("MARKER-own-error")' },
      { ...page, wait_for_expression: 'MARKER_expression()' },
      { ...page, wait_for_selector: '#MARKER-selector' },
      { html: html(`MARKER-html<img src="${base}/a.png?MARKER-resource">`), ...secrets },
      { url: `${base}/missing?MARKER-missing` },
      { html: 'MARKER-invalid', landscape: 'MARKER-value' },
    ];
    const statuses: unknown[] = [];
    for (const body of bodies) statuses.push((await lineOf(body))['status']);
    expect(statuses).to.deep.equal([200, 400, 502, 502, 200, 502, 400]);
    expect(lines.filter(line => line.includes('MARKER'))).to.deep.equal([]);
  });
});
