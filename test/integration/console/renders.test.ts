import { expect } from 'chai';
import { pino } from 'pino';
import type { RenderDetail, RenderSummary } from '../../../api/console/contract/accounts.ts';
import { type ConsoleFixture, consoleFixture } from '../../support/console/console-fixture.ts';
import { type LoggedRows, loggedRows } from '../../support/console/log-fixture.ts';
import { eventually } from '../../support/eventually.ts';
import { type Answer, html } from '../../support/installation.ts';
import { startWebServer, type WebServer } from '../../support/servers/web-server.ts';

describe('the log of renders', () => {
  let fixture: ConsoleFixture;
  let log: LoggedRows;
  let web: WebServer;
  let keyId: string;
  const lines: { msg: string; requestId?: string; phases?: unknown }[] = [];
  const processLog = pino({ level: 'info' }, { write: line => lines.push(JSON.parse(line)) });
  before(async () => {
    web = await startWebServer({
      '/page': '<h1>Page</h1><script>console.log("of", "the page")</script>',
    });
    fixture = await consoleFixture({
      plan: 'free',
      intranet: true,
      log: processLog,
      env: { PRESSROOM_EGRESS_ALLOW: `127.0.0.1:${web.port}` },
    });
    log = await loggedRows(fixture);
    keyId = (await fixture.accounts.listKeys(fixture.account))[0]!.id;
  });
  after(async () => {
    await fixture?.stop();
    await web?.close();
  });

  /** The entry of this call. */
  async function rowOf(body: unknown, status: number): Promise<RenderDetail> {
    const answer = await fixture.render(body);
    expect(answer.status, answer.body.toString('latin1').slice(0, 300)).to.equal(status);
    return log.detail(answer.headers['x-request-id']!);
  }

  it('contains a successful render with key, options and phases', async () => {
    const row = await rowOf(
      { html: html('good'), format: 'A5', landscape: true, margin: { top: '20mm' } },
      200,
    );
    expect(row).to.deep.include({
      outcome: 'ok',
      code: null,
      reason: null,
      via: 'api',
      sandbox: false,
      counted: true,
      pages: 1,
    });
    expect(row).to.deep.include({
      source: 'html',
      url: null,
      message: null,
      console: [],
      user: null,
    });
    expect(row.key).to.include({ id: keyId, name: 'test' });
    expect(row.options).to.include({ format: 'A5', landscape: true, margin: 'top 20mm' });
    expect(row.bytes).to.be.greaterThan(1_000);
    expect(row.timings).to.have.all.keys(
      'admit',
      'queue',
      'load',
      'wait',
      'print',
      'post',
      'settle',
    );
    expect(row.totalMs).to.be.at.least(row.timings.print!);
  });

  it('marks a sandbox render as not counted', async () => {
    expect(await rowOf({ html: html('mark'), sandbox: true }, 200)).to.include({
      outcome: 'ok',
      sandbox: true,
      counted: false,
    });
  });

  it('contains the URL without its query, and the console output', async () => {
    const row = await rowOf({ url: `http://127.0.0.1:${web.port}/page?token=s3cret#part` }, 200);
    expect(row).to.include({ source: 'url', url: `http://127.0.0.1:${web.port}/page` });
    expect(row.console).to.deep.equal([{ level: 'log', text: 'of the page' }]);
  });

  it('contains the title of the PDF', async () => {
    const titled = '<title>Rechnung <b>42</b> für Zoë</title>x';
    expect(await rowOf({ html: titled }, 200)).to.include({ title: 'Rechnung <b>42</b> für Zoë' });
    const metadata = { title: 'Of the request' };
    expect(await rowOf({ html: titled, metadata }, 200)).to.include({ title: 'Of the request' });
    for (const untitled of ['<p>x', '<title></title>x'])
      expect(await rowOf({ html: untitled }, 200)).to.include({ title: null });
    expect(await rowOf({ html: titled, javascript: 'throw 1' }, 400)).to.include({ title: null });
  });

  it('contains what an inline script threw', async () => {
    for (const [javascript, thrown] of [
      ['throw new Error("boom")', 'Error: boom'],
      ['console.log("before"); await Promise.reject(new TypeError("late"))', 'TypeError: late'],
      ['throw "a text"', 'a text'],
    ] as const) {
      const row = await rowOf({ html: html('x'), javascript }, 400);
      expect(row.console.at(-1)).to.deep.equal({ level: 'error', text: `javascript: ${thrown}` });
      expect(row.message).to.not.include(thrown);
    }
  });

  it('contains the error of a failed page with its completed phases', async () => {
    const row = await rowOf({ url: `http://127.0.0.1:${web.port}/missing` }, 502);
    expect(row).to.include({
      outcome: 'error',
      code: 'render_failed',
      rejected: false,
      reason: 'page_status',
      counted: false,
      pages: null,
      bytes: null,
    });
    expect(row.message).to.include('returned 404');
    expect(row.timings).to.include.keys('admit', 'queue', 'load').and.not.have.property('print');
  });

  it('contains a rejected request', async () => {
    const body = { html: 'x', format: 'B9', margin: { top: '1cm' }, cookies: 7, Cookies: 's3cret' };
    const row = await rowOf(body, 400);
    expect(row).to.include({ outcome: 'error', rejected: true, code: 'validation_error' });
    expect(row).to.deep.include({
      source: 'html',
      options: { html: '1 character', margin: 'top 1cm' },
    });
    expect(row.key).to.include({ id: keyId });
    expect(row.message).to.include('`format`');
  });

  /** By name, from the header of a response. */
  const serverTiming = ({ headers }: Answer): Record<string, number> =>
    Object.fromEntries(
      [...headers['server-timing']!.matchAll(/(\w+);dur=([\d.]+)/g)].map(([, name, ms]) => [
        name,
        Number(ms),
      ]),
    );

  const TIMED: [outcome: string, body: () => unknown, status: number, phases: string[]][] = [
    [
      'a successful render',
      () => ({ html: html('timed'), wait_delay: '50ms' }),
      200,
      ['admit', 'queue', 'load', 'wait', 'print', 'post', 'settle', 'other'],
    ],
    [
      'a render that fails while it loads',
      () => ({ url: `http://127.0.0.1:${web.port}/missing` }),
      502,
      ['admit', 'queue', 'load', 'wait', 'other'],
    ],
    [
      'a render that fails in its script',
      () => ({ html: html('timed'), javascript: 'throw new Error("no")' }),
      400,
      ['admit', 'queue', 'load', 'wait', 'other'],
    ],
  ];
  for (const [outcome, body, status, phases] of TIMED)
    it(`contains the phases of ${outcome}, as the response and the log line do`, async () => {
      const answer = await fixture.render(body());
      expect(answer.status, answer.body.toString('latin1').slice(0, 300)).to.equal(status);
      const ofHeader = serverTiming(answer);
      expect(Object.keys(ofHeader)).to.deep.equal(phases);
      const id = answer.headers['x-request-id']!;
      const { timings, totalMs } = await log.detail(id);
      const { other, ...known } = ofHeader;
      expect(timings).to.deep.equal(known);
      const sum = Object.values(ofHeader).reduce((all, ms) => all + ms, 0);
      expect(sum).to.be.closeTo(totalMs, 0.01);
      expect(other).to.be.at.least(0);
      const line = lines.find(each => each.msg === 'request' && each.requestId === id);
      expect(line!.phases).to.deep.equal(ofHeader);
    });

  it('has no phases for a request that was rejected before rendering', async () => {
    const answer = await fixture.render({ html: 'x', format: 'B9' });
    expect(answer.status).to.equal(400);
    expect(answer.headers).not.to.have.property('server-timing');
    const { timings } = await log.detail(answer.headers['x-request-id']!);
    expect(timings).to.deep.equal({});
  });

  it('contains the reference of the caller, by which renders can be found', async () => {
    const reference = 'Bestellung "1042" · 注文';
    const row = await rowOf({ html: html('ordered'), reference, filename: 'order.pdf' }, 200);
    expect(row).to.include({ reference });
    expect(row.options).to.include({ filename: 'order.pdf' }).and.not.have.property('reference');
    await rowOf({ html: html('other'), reference: 'another' }, 200);
    const owner = await fixture.createUser({ role: 'owner' });
    const found = await owner.good<{ items: RenderSummary[] }>(
      'GET',
      `/accounts/${fixture.accountId}/renders?reference=${encodeURIComponent(reference)}`,
    );
    expect(found.items.map(({ id }) => id)).to.deep.equal([row.id]);
  });

  it('contains a blocked private address, found by the worker or before', async () => {
    expect(await rowOf({ url: 'http://10.0.0.1/' }, 422)).to.include({
      outcome: 'error',
      rejected: true,
      code: 'ssrf_blocked',
      url: 'http://10.0.0.1/',
    });
    const css = 'http://10.0.0.1/a.css';
    expect((await rowOf({ html: 'x', css }, 422)).options).to.include({ css: 'from 10.0.0.1' });
    const account = await fixture.account2();
    const name = (await fixture.store.accounts.findOne({ _id: account }))!.name;
    const { text } = await fixture.accounts.createKey(name, { name: 'other' });
    const answer = await fixture.call(
      'POST',
      '/v1/render',
      { authorization: `Bearer ${text}`, 'content-type': 'application/json' },
      '{"url":"http://10.0.0.1/"}',
    );
    expect(answer.error().code).to.equal('ssrf_blocked');
    const other = await loggedRows(fixture, account);
    expect(await other.detail(answer.headers['x-request-id']!)).to.include({
      code: 'ssrf_blocked',
      outcome: 'error',
    });
  });

  it('contains a call over the limit, and a canceled one', async () => {
    const slow = fixture.render({ html: html('slow'), wait_delay: '30s' });
    slow.catch(() => {});
    await eventually(async () => expect(await fixture.running()).to.equal(1));
    expect(await rowOf({ html: 'x' }, 429)).to.include({
      outcome: 'error',
      code: 'concurrency_limit',
    });
    slow.disconnect();
    const [gone] = await log.rows(1, '?status=client_closed');
    expect(gone).to.include({ outcome: 'client_closed', code: null, counted: false });
    await eventually(async () => expect(await fixture.running()).to.equal(0));
  });

  it('contains a call of a suspended account', async () => {
    const account = await fixture.account2();
    const { name } = (await fixture.store.accounts.findOne({ _id: account }))!;
    const { text } = await fixture.accounts.createKey(name, { name: 'unpaid' });
    await fixture.accounts.setAccount(name, { state: 'unpaid' });
    const answer = await fixture.call(
      'POST',
      '/v1/render',
      { authorization: `Bearer ${text}`, 'content-type': 'application/json' },
      '{"html":"x"}',
    );
    const other = await loggedRows(fixture, account);
    const row = await other.detail(answer.headers['x-request-id']!);
    expect(answer.status).to.equal(403);
    expect(row).to.include({ code: 'subscription_inactive', outcome: 'error', source: null });
    expect(row.key?.name).to.equal('unpaid');
  });

  it('contains the user of a playground render', async () => {
    const path = `/console/v1/accounts/${fixture.accountId}/playground/render`;
    const answer = await log.person.call('POST', path, { html: html('tried') });
    expect(answer.status).to.equal(200);
    const row = await log.detail(answer.headers['x-request-id']!);
    expect(row).to.include({
      via: 'playground',
      outcome: 'ok',
      key: null,
      sandbox: true,
      counted: false,
      user: 'A TestUser',
    });
  });

  it('omits callers with an invalid key', async () => {
    const before = await fixture.store.console.renders.countDocuments();
    const answer = await fixture.call(
      'POST',
      '/v1/render',
      { authorization: 'Bearer pressroom_live_x', 'content-type': 'application/json' },
      '{"html":"x"}',
    );
    expect(answer.status).to.equal(401);
    await rowOf({ html: html('after it') }, 200);
    expect(await fixture.store.console.renders.countDocuments()).to.equal(before + 1);
  });

  it('does not show the renders of one account to another', async () => {
    const { id } = await rowOf({ html: html('mine') }, 200);
    const account = await fixture.account2();
    const other = await fixture.createUser({ role: 'owner', account });
    expect((await other.call('GET', `/accounts/${fixture.accountId}/renders`)).status).to.equal(
      404,
    );
    expect(
      (await other.call('GET', `/accounts/${fixture.accountId}/renders/${id}`)).status,
    ).to.equal(404);
    expect((await other.call('GET', `/accounts/${account}/renders/${id}`)).status).to.equal(404);
    expect(
      (await other.good<{ items: [] }>('GET', `/accounts/${account}/renders`)).items,
    ).to.deep.equal([]);
  });
});
