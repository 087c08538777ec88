// @proves POST /v1/render, unknown-endpoints, X-Pdf-Pages, Server-Timing, Content-Disposition
// @proves WWW-Authenticate, Retry-After, X-Concurrency-Limit, unauthorized, subscription_inactive
// @proves concurrency_limit, page_crash, no_worker, queue_full, worker_lost, not_found
// @proves method_not_allowed, client-disconnect, bearer, usage

import { expect } from 'chai';
import { createKeyText } from '../../../api/accounts/keys.ts';
import { eventually } from '../../support/eventually.ts';
import { type Installation, installation } from '../../support/installation.ts';
import { pdfFonts, pdfInfo, pdfText } from '../../support/pdf.ts';
import { startWorker } from '../../support/worker.ts';

const HELLO = { html: '<title>Greeting</title><h1>Hello, world</h1>' };
const LONG = { html: '<h1>long</h1>', wait_for_expression: 'false' };
const slow = (delay: string) => ({ html: `<h1>took ${delay}</h1>`, wait_delay: delay });

describe('the lifecycle of a render', () => {
  let pressroom: Installation;
  before(async () => {
    pressroom = await installation({ plan: 'starter' });
  });
  after(() => pressroom.stop());
  afterEach(async () => {
    await pressroom.worker.until({ busy: 0, ready: 2 });
    await eventually(async () => expect(await pressroom.running()).to.equal(0));
  });

  it('returns a PDF with its headers and counts the render', async () => {
    const before = await pressroom.usage();
    const answer = await pressroom.render(HELLO);
    expect(answer.status).to.equal(200);
    expect(answer.headers).to.include({
      'content-type': 'application/pdf',
      'content-disposition': 'inline; filename="render.pdf"',
      'x-pdf-pages': '1',
      'x-usage-count': String(before + 1),
    });
    expect(answer.headers['x-request-id']).to.match(
      /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    );
    expect(answer.headers['server-timing']).to.match(
      /^admit;dur=[\d.]+, queue;dur=[\d.]+, load;dur=[\d.]+, wait;dur=[\d.]+, print;dur=[\d.]+, post;dur=[\d.]+, settle;dur=[\d.]+, other;dur=[\d.]+, isolation;desc="warm"$/,
    );
    expect(answer.headers).to.not.have.property('x-sandbox');
    const info = await pdfInfo(answer.body);
    expect(info).to.include({ pages: 1, title: 'Greeting' });
    expect(await pdfText(answer.body)).to.include('Hello, world');
    expect((await pdfFonts(answer.body)).every(({ embedded }) => embedded)).to.equal(true);
    expect(await pressroom.usage()).to.equal(before + 1);
  });

  it('does not count failed renders', async () => {
    const before = await pressroom.usage();
    expect((await pressroom.render({ html: 'x', wait_for_selector: '][' })).status).to.equal(400);
    expect((await pressroom.render({ html: 'x', url: 'http://example.com/' })).status).to.equal(
      400,
    );
    expect((await pressroom.render({ url: 'http://10.0.0.1/' })).status).to.equal(422);
    expect(await pressroom.usage()).to.equal(before);
  });

  it('releases the slot and the lease and counts nothing when the client disconnects', async () => {
    const before = await pressroom.usage();
    const call = pressroom.render(LONG);
    const aborted = call.catch(error => error.name);
    await pressroom.worker.until({ busy: 1 });
    call.disconnect();
    expect(await aborted).to.equal('AbortError');
    await pressroom.worker.until({ busy: 0, ready: 2 });
    await eventually(async () => expect(await pressroom.running()).to.equal(0));
    expect(await pressroom.usage()).to.equal(before);
    await eventually(async () =>
      expect(await pressroom.metrics.text()).to.include(
        'pressroom_renders_total{outcome="client_closed"} 1',
      ),
    );
  });

  it('responds 429 above the concurrency limit and serves again afterwards', async () => {
    const calls = [pressroom.render(LONG), pressroom.render(LONG)];
    const aborted = calls.map(call => call.catch(() => {}));
    await pressroom.worker.until({ busy: 2 });
    const rejected = await pressroom.render(HELLO);
    expect(rejected.status).to.equal(429);
    expect(rejected.error().code).to.equal('concurrency_limit');
    expect(rejected.headers['x-concurrency-limit']).to.equal('2');
    expect(Number(rejected.headers['retry-after'])).to.be.within(1, 30);
    for (const call of calls) call.disconnect();
    await Promise.all(aborted);
    await eventually(async () => expect(await pressroom.running()).to.equal(0));
    expect((await pressroom.render(HELLO)).status).to.equal(200);
  });

  const invalidUrls: [string, string][] = [
    ['a script', "<script>location.href = 'http://a%20b/'</script>"],
    [
      'a link',
      '<a id="x" href="http://a b/">x</a><script>document.getElementById("x").click()</script>',
    ],
    ['a refresh', '<meta http-equiv="refresh" content="0;url=http://a b/">'],
  ];
  for (const [what, html] of invalidUrls)
    it(`fails with page_unreachable for ${what} with a URL that Chrome accepts and Node does not`, async () => {
      const answer = await pressroom.render({ html, wait_delay: '500ms' });
      expect(answer.status).to.equal(502);
      expect(answer.error()).to.include({ code: 'render_failed', reason: 'page_unreachable' });
      expect((await pressroom.render(HELLO)).status).to.equal(200);
    });

  it('releases the lease before the error response, so a plan of one render can retry immediately', async () => {
    const account = 'one at a time';
    await pressroom.accounts.createAccount(account, { plan: 'free' });
    const { text } = await pressroom.accounts.createKey(account, { name: 'x' });
    for (let i = 0; i < 40; i++) {
      const answer = await pressroom.render(
        { html: 'x', wait_for_expression: '((' },
        { authorization: `Bearer ${text}` },
      );
      expect(answer.status, `call ${i}`).to.equal(400);
    }
  });

  it('applies a change of the intranet setting to the next request', async () => {
    const before = await pressroom.render({ url: 'http://127.0.0.1:8080/' });
    expect(before.error().code).to.equal('ssrf_blocked');
    await pressroom.accounts.setAccount(pressroom.account, { intranet: true });
    // The API accepts the URL and the egress guard, which has the allowlist, blocks it. Only the
    // guard counts blocked requests.
    await pressroom.render({ url: 'http://127.0.0.1:8080/' });
    expect(await pressroom.worker.metrics.text()).to.match(
      /pressroom_egress_denied_total\{reason="address"\} [1-9]/,
    );
    await pressroom.accounts.setAccount(pressroom.account, { intranet: false });
  });

  it('ends a slot whose page closes itself, which a rendered page cannot do', async () => {
    const session = await pressroom.worker.open();
    session.command('Runtime.evaluate', { expression: 'window.close()' }).catch(() => {});
    expect(await session.ended).to.deep.equal({
      reason: 'renderer_crashed',
      message: 'the page closed itself',
    });
  });

  it('responds with a 401 that says what is wrong with the key, before reading the body', async () => {
    const unknown = createKeyText((await pressroom.store.accounts.findOne())!._id);
    const cases: [authorization: string | undefined, message: string][] = [
      [undefined, 'The `Authorization` header is missing.'],
      ['', 'is not a Bearer token'],
      ['Bearer', 'is not a Bearer token'],
      [`Basic ${pressroom.key}`, 'is not a Bearer token'],
      [`Bearer ${pressroom.key} x`, 'is not a Bearer token'],
      [`Bearer ${pressroom.key.slice(0, -1)}`, 'is not an API key'],
      [`Bearer ${pressroom.key}x`, 'is not an API key'],
      [`Bearer ${pressroom.key.replace(/_live_.{10}/, '_live_0000000000')}`, 'is not an API key'],
      [`Bearer ${unknown}`, 'is unknown, expired or revoked'],
    ];
    for (const [authorization, message] of cases) {
      const answer = await pressroom.call(
        'POST',
        '/v1/render',
        { ...(authorization !== undefined && { authorization }) },
        'not json',
      );
      expect(answer.status, authorization).to.equal(401);
      expect(answer.headers['www-authenticate']).to.equal('Bearer');
      expect(answer.error().code).to.equal('unauthorized');
      expect(answer.error().message).to.include(message);
    }
  });

  it('names the PDF as requested', async () => {
    const names: [filename: string, header: string][] = [
      ['invoice-42.pdf', 'inline; filename="invoice-42.pdf"'],
      ['invoice-42', 'inline; filename="invoice-42.pdf"'],
      [
        'Größe "5"; 請求書',
        `inline; filename="Gro_e -5- ___.pdf"; filename*=UTF-8''Gr%C3%B6%C3%9Fe%20-5-%20%E8%AB%8B%E6%B1%82%E6%9B%B8.pdf`,
      ],
      ['..', 'inline; filename="render.pdf"'],
    ];
    for (const [filename, header] of names) {
      const { status, headers } = await pressroom.render({ ...HELLO, filename });
      expect([status, headers['content-disposition']]).to.deep.equal([200, header]);
    }
  });

  it('accepts the Bearer scheme in any case', async () => {
    expect(
      (await pressroom.render(HELLO, { authorization: `bEARER ${pressroom.key}` })).status,
    ).to.equal(200);
  });

  it('rejects a revoked key on the next request although the key is cached', async () => {
    const { text, key } = await pressroom.accounts.createKey(pressroom.account, {
      name: 'short-lived',
    });
    const headers = { authorization: `Bearer ${text}` };
    expect((await pressroom.render(HELLO, headers)).status).to.equal(200);
    await pressroom.accounts.revokeKey(pressroom.account, key.id);
    expect((await pressroom.render(HELLO, headers)).status).to.equal(401);
  });

  for (const state of ['canceled', 'unpaid', 'paused'])
    it(`responds 403 with the dashboard URL while an account is ${state}`, async () => {
      await pressroom.accounts.setAccount(pressroom.account, { state });
      const answer = await pressroom.render(HELLO);
      expect(answer.status).to.equal(403);
      expect(answer.error().code).to.equal('subscription_inactive');
      expect(answer.error().message).to.include('http://localhost:8080/app');
      await pressroom.accounts.setAccount(pressroom.account, { state: 'active' });
      expect((await pressroom.render(HELLO)).status).to.equal(200);
    });

  it('serves the API description and health checks', async () => {
    expect(
      JSON.parse((await pressroom.call('GET', '/openapi.json')).body.toString()),
    ).to.have.nested.property('info.version', '0.1.0');
    const docs = await pressroom.call('GET', '/docs');
    expect(docs.headers['content-type']).to.include('text/html');
    expect(docs.headers['content-security-policy']).to.include("default-src 'none'");
    expect(JSON.parse((await pressroom.call('GET', '/healthz')).body.toString())).to.deep.equal({
      status: 'ok',
    });
    const ready = await pressroom.call('GET', '/readyz');
    expect(ready.status).to.equal(200);
    expect(JSON.parse(ready.body.toString())).to.deep.equal({
      status: 'ready',
      checks: { database: { status: 'ok' }, workers: { ready: 1, slots: 2 } },
    });
  });

  it('responds 405 with Allow and 404 with an error object', async () => {
    const wrong = await pressroom.call('GET', '/v1/render');
    expect(wrong.status).to.equal(405);
    expect(wrong.headers.allow).to.include('POST');
    expect(wrong.error().code).to.equal('method_not_allowed');
    expect((await pressroom.call('GET', '/v1/nothing')).error().code).to.equal('not_found');
  });
});

describe('renders and workers', () => {
  let pressroom: Installation;
  afterEach(() => pressroom.stop());

  it('retries renders whose Chrome dies and counts each once', async () => {
    pressroom = await installation({ workers: 2 });
    const calls = [
      pressroom.render(slow('2s')),
      pressroom.render(slow('2s')),
      pressroom.render(slow('2s')),
    ];
    await eventually(() =>
      expect(
        pressroom.workers.map(({ worker }) => worker.status().busy).reduce((a, b) => a + b),
      ).to.equal(3),
    );
    // A render whose claim is pending claims another slot, which is not a retry.
    await eventually(async () =>
      expect(await pressroom.metrics.text()).to.include('outcome="opened"} 3'),
    );
    const busiest = pressroom.workers.find(({ worker }) => worker.status().busy > 0)!;
    await busiest.killChromes();
    for (const answer of await Promise.all(calls))
      expect(answer.status, answer.body.toString('latin1', 0, 200)).to.equal(200);
    expect(await pressroom.usage()).to.equal(3);
    expect(await pressroom.metrics.text()).to.match(
      /pressroom_render_retries_total\{pool="default"\} [12]/,
    );
  });

  it('retries a render on the restarted Chrome of the only worker', async () => {
    // With two slots, the retry could reach the other Chrome before the worker notices its death.
    pressroom = await installation({ workers: 1, env: { PRESSROOM_SLOTS: '1' } });
    const call = pressroom.render(slow('1s'));
    await pressroom.worker.until({ busy: 1 });
    await pressroom.worker.killChromes();
    const answer = await call;
    expect(answer.status, answer.body.toString('latin1', 0, 300)).to.equal(200);
  });

  it('does not retry a render whose renderer process crashes', async () => {
    pressroom = await installation({ env: { PRESSROOM_RENDER_MEMORY: '200MiB' } });
    const answer = await pressroom.render({
      html: '<script>const all = []; for (;;) all.push(new Uint8Array(1 << 22).fill(1))</script>',
    });
    expect(answer.status).to.equal(502);
    expect(answer.error()).to.include({ code: 'render_failed', reason: 'page_crash' });
    expect(answer.error().message).to.include('memory');
    expect(await pressroom.metrics.text()).to.include(
      'pressroom_renders_total{outcome="page_crash"} 1',
    );
    expect(await pressroom.usage()).to.equal(0);
    expect(await pressroom.metrics.text()).to.include(
      'pressroom_render_retries_total{pool="default"} 0',
    );
  });

  it('queues renders while all slots are busy', async () => {
    pressroom = await installation({ env: { PRESSROOM_SLOTS: '1' } });
    const answers = await Promise.all([1, 2, 3, 4].map(() => pressroom.render(slow('200ms'))));
    expect(answers.map(({ status }) => status)).to.deep.equal([200, 200, 200, 200]);
    expect(await pressroom.usage()).to.equal(4);
  });

  it('rejects renders with Retry-After when the queue is full or the queue time is exceeded', async () => {
    pressroom = await installation({
      env: {
        PRESSROOM_SLOTS: '1',
        PRESSROOM_QUEUE_MAX_RENDERS: '1',
        PRESSROOM_QUEUE_TIMEOUT: '500ms',
      },
    });
    const running = pressroom.render(LONG);
    const aborted = running.catch(() => {});
    await pressroom.worker.until({ busy: 1 });
    const waiting = pressroom.render(HELLO);
    await eventually(async () =>
      expect(await pressroom.metrics.text()).to.include('pressroom_queue_depth{pool="default"} 1'),
    );
    const full = await pressroom.render(HELLO);
    expect(full.error()).to.include({ code: 'render_failed', reason: 'queue_full' });
    const late = await waiting;
    expect(late.error()).to.include({ code: 'render_failed', reason: 'no_worker' });
    for (const { status, headers } of [full, late]) {
      expect(status).to.equal(502);
      expect(Number(headers['retry-after'])).to.be.within(1, 30);
    }
    running.disconnect();
    await aborted;
  });

  it('finishes renders on a draining worker and sends new ones to the other', async () => {
    pressroom = await installation({ workers: 2 });
    const calls = [
      pressroom.render(slow('1s')),
      pressroom.render(slow('1s')),
      pressroom.render(slow('1s')),
    ];
    await eventually(() =>
      expect(
        pressroom.workers.map(({ worker }) => worker.status().busy).reduce((a, b) => a + b),
      ).to.equal(3),
    );
    const [first] = pressroom.workers;
    const drained = first!.stop();
    await first!.until({ draining: true });
    const more = await Promise.all([1, 2, 3].map(() => pressroom.render(HELLO)));
    for (const answer of [...(await Promise.all(calls)), ...more])
      expect(answer.status).to.equal(200);
    expect(await drained).to.equal(true);
  });

  it('finishes a render while the API drains and refuses new connections', async () => {
    pressroom = await installation();
    const call = pressroom.render(slow('1s'));
    await pressroom.worker.until({ busy: 1 });
    const stopped = pressroom.stop();
    const answer = await call;
    expect(answer.status).to.equal(200);
    expect(answer.headers['x-usage-count']).to.equal('1');
    expect(await stopped).to.equal(true);
    expect(await pressroom.render(HELLO).catch(error => error.code)).to.equal('ECONNREFUSED');
  });

  it('runs a queued render on a worker that starts later', async () => {
    const later = await startWorker();
    await later.stop();
    const port = new URL(later.address).port;
    pressroom = await installation({ workers: 0, env: { PRESSROOM_WORKERS: later.address } });
    const call = pressroom.render(HELLO);
    const ready = await pressroom.call('GET', '/readyz');
    expect(ready.status).to.equal(503);
    expect(JSON.parse(ready.body.toString())).to.have.nested.property('status', 'unavailable');
    const worker = await startWorker({ PRESSROOM_GATEWAY_PORT: port });
    try {
      const answer = await call;
      expect(answer.status, answer.body.toString('latin1', 0, 300)).to.equal(200);
    } finally {
      await worker.stop();
    }
  });
});
