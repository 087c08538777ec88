// @proves POST /v1/renders, GET /v1/renders, GET /v1/renders/{id}, DELETE /v1/renders/{id}
// @proves GET /v1/renders/{id}/pdf, Location, Retry-After, conflict, gone, not_found
// @proves concurrency_limit

import { expect } from 'chai';
import type { Document } from 'mongodb';
import { ProgramAudit } from '../../../api/history/program-audit.ts';
import { JobOperations } from '../../../api/jobs/job-operations.ts';
import { JobSweep } from '../../../api/jobs/job-sweep.ts';
import { silentLog } from '../../../common/log.ts';
import { type AsyncClient, asyncClient } from '../../support/async-fixture.ts';
import { eventually } from '../../support/eventually.ts';
import { type Installation, installation } from '../../support/installation.ts';
import { pdfText } from '../../support/pdf.ts';

const HELLO = { html: '<title>Greeting</title><h1>Hello, world</h1>', reference: 'invoice 7' };
const LONG = { html: '<h1>long</h1>', wait_for_expression: 'false' };
const ASYNC = { PRESSROOM_ASYNC: 'on', PRESSROOM_SECRET: 'a secret of these tests' };
const OTHER_ID = `rnd_${'0'.repeat(32)}`;

describe('asynchronous renders', () => {
  let pressroom: Installation;
  let client: AsyncClient;

  before(async () => {
    pressroom = await installation({ plan: 'starter', env: ASYNC });
    client = asyncClient(pressroom.api.port(), pressroom.key);
  });
  after(() => pressroom.stop());
  afterEach(async () => {
    await pressroom.worker.until({ busy: 0, ready: 2 });
    await eventually(async () => expect(await pressroom.running()).to.equal(0));
  });

  const jobs = () => pressroom.store.asynchronous.jobs;
  const error = async (call: ReturnType<AsyncClient['call']>) => {
    const answer = await call;
    return { status: answer.status, ...answer.error() };
  };
  /** Sweeps like every API process does, without waiting for the turn of this one. */
  const sweep = () => {
    const audit = new ProgramAudit(pressroom.store, silentLog);
    const meters = { ended: () => {}, interrupted: () => {} };
    return new JobSweep(new JobOperations(pressroom.store), audit, silentLog, meters).run();
  };
  const until = (id: string, status: string) =>
    eventually(async () => expect((await client.read(id)).status).to.equal(status));

  it('renders what was submitted, and counts it once', async () => {
    const before = await pressroom.usage();
    const answer = await client.call('POST', '', HELLO);
    expect(answer.status).to.equal(202);
    const submitted = JSON.parse(answer.body.toString());
    expect(submitted.id).to.match(/^rnd_[0-9a-f]{32}$/);
    expect(answer.headers['location']).to.equal(`http://localhost:8080/v1/renders/${submitted.id}`);
    expect(answer.headers['retry-after']).to.equal('2');
    expect(submitted).to.include({ status: 'queued', attempts: 0, reference: 'invoice 7' });
    const render = await client.end(submitted.id);
    expect(render).to.include({
      status: 'succeeded',
      pages: 1,
      attempts: 1,
      sandbox: false,
      usage_count: before + 1,
    });
    const pdf = await client.call('GET', `/${render.id}/pdf`);
    expect(pdf.status).to.equal(200);
    expect(pdf.headers).to.include({
      'content-type': 'application/pdf',
      'content-length': String(render.bytes),
      'x-pdf-pages': '1',
      'cache-control': 'no-store',
    });
    expect(await pdfText(pdf.body)).to.include('Hello, world');
    expect(await pressroom.usage()).to.equal(before + 1);
    const metrics = await pressroom.metrics.text();
    for (const route of ['/v1/renders', '/v1/renders/:id', '/v1/renders/:id/pdf'])
      expect(metrics).to.match(
        new RegExp(`pressroom_http_requests_total{route="${route}",outcome="ok"} [1-9]`),
      );
  });

  it('stores neither the HTML nor the PDF in plain text', async () => {
    const secret = 'a very secret document';
    const cookies = [{ name: 'session', value: 'a secret cookie', domain: 'example.com' }];
    const { id } = await client.submit({ html: `<h1>${secret}</h1>`, cookies });
    await client.end(id);
    const large = await client.submit({ html: `<h1>${secret}</h1><!--${'x'.repeat(300_000)}-->` });
    await client.end(large.id);
    const stored: Document[] = [
      ...(await jobs().find().toArray()),
      ...(await pressroom.store.console.storedPdfChunks.find().toArray()),
    ];
    expect(stored.length).to.be.greaterThan(2);
    for (const document of stored) {
      const bytes = Buffer.concat(
        Object.values(document).map(value =>
          value?._bsontype === 'Binary' ? Buffer.from(value.buffer) : Buffer.from(String(value)),
        ),
      );
      expect(bytes.includes(secret)).to.equal(false);
      expect(bytes.includes('a secret cookie')).to.equal(false);
      expect(bytes.includes('%PDF')).to.equal(false);
    }
    expect(await jobs().countDocuments({ request: { $exists: true } })).to.equal(0);
  });

  it('fails a render whose page fails, without a second attempt', async () => {
    const before = await pressroom.usage();
    const { id } = await client.submit({ ...LONG, timeout: '1s' });
    const render = await client.end(id);
    expect(render).to.include({ status: 'failed', attempts: 1 });
    expect(render.error).to.include({ code: 'render_failed', reason: 'page_timeout' });
    expect(await error(client.call('GET', `/${id}/pdf`))).to.include({
      status: 409,
      code: 'conflict',
    });
    expect(await pressroom.usage()).to.equal(before);
  });

  it('leaves a lease to synchronous calls, and waits for leases that they hold', async () => {
    const first = await client.submit(LONG);
    const second = await client.submit(LONG);
    await until(first.id, 'running');
    const answer = await pressroom.render(HELLO);
    expect(answer.status).to.equal(200);
    expect((await client.read(second.id)).status).to.equal('queued');
    await client.call('DELETE', `/${first.id}`);
    await until(second.id, 'running');
    await client.call('DELETE', `/${second.id}`);
  });

  it('cancels queued and running renders', async () => {
    const before = await pressroom.usage();
    const running = await client.submit(LONG);
    await until(running.id, 'running');
    const queued = await client.submit(HELLO);
    for (const { id } of [queued, running]) {
      const canceled = await client.call('DELETE', `/${id}`);
      expect(canceled.status).to.equal(200);
      expect(JSON.parse(canceled.body.toString())).to.include({ id, status: 'canceled' });
      expect((await client.call('DELETE', `/${id}`)).status).to.equal(200);
    }
    await pressroom.worker.until({ busy: 0 });
    expect((await client.read(running.id)).status).to.equal('canceled');
    expect(await pressroom.usage()).to.equal(before);
    const { id } = await client.submit(HELLO);
    await client.end(id);
    expect(await error(client.call('DELETE', `/${id}`))).to.include({
      status: 409,
      code: 'conflict',
    });
  });

  it('does not count sandbox renders', async () => {
    const before = await pressroom.usage();
    const { id } = await client.submit({ ...HELLO, sandbox: true });
    const render = await client.end(id);
    expect(render).to.include({ status: 'succeeded', sandbox: true });
    expect(render).not.to.have.property('usage_count');
    const pdf = await client.call('GET', `/${id}/pdf`);
    expect(pdf.headers['x-sandbox']).to.equal('true');
    expect(await pressroom.usage()).to.equal(before);
  });

  it('lists the newest first, by status and in pages', async () => {
    const names = ['one', 'two', 'three'];
    const ids: string[] = [];
    for (const reference of names) ids.push((await client.submit({ ...HELLO, reference })).id);
    for (const id of ids) await client.end(id);
    const page = async (query: string) =>
      JSON.parse((await client.call('GET', `?status=succeeded&limit=2${query}`)).body.toString());
    const first = await page('');
    expect(first.items.map(({ reference }: Document) => reference)).to.deep.equal(['three', 'two']);
    const second = await page(`&cursor=${first.next}`);
    expect(second.items[0].reference).to.equal('one');
    expect(await error(client.call('GET', '?cursor=x'))).to.include({ code: 'validation_error' });
    expect(await error(client.call('GET', '?status=done'))).to.include({
      code: 'validation_error',
    });
  });

  it('hides the renders of other accounts', async () => {
    const { id } = await client.submit(HELLO);
    await client.end(id);
    await pressroom.accounts.createAccount('another', { plan: 'free' });
    const { text } = await pressroom.accounts.createKey('another', { name: 'test' });
    const other = asyncClient(pressroom.api.port(), text);
    for (const [method, path] of [
      ['GET', `/${id}`],
      ['GET', `/${id}/pdf`],
      ['DELETE', `/${id}`],
      ['GET', `/${OTHER_ID}`],
      ['GET', '/rnd_x'],
    ] as const)
      expect(await error(other.call(method, path))).to.include({ status: 404, code: 'not_found' });
    expect(JSON.parse((await other.call('GET', '')).body.toString()).items).to.deep.equal([]);
  });

  it('accepts keys by their scopes', async () => {
    const { text } = await pressroom.accounts.createKey(pressroom.account, {
      name: 'reader',
      scopes: ['read'],
    });
    const { id } = await client.submit(HELLO);
    await client.end(id);
    const reader = asyncClient(pressroom.api.port(), text);
    expect((await reader.call('GET', `/${id}`)).status).to.equal(200);
    expect((await reader.call('GET', '')).status).to.equal(200);
    for (const call of [
      reader.call('POST', '', HELLO),
      reader.call('DELETE', `/${id}`),
      reader.call('GET', `/${id}/pdf`),
    ])
      expect(await error(call)).to.include({ status: 401, code: 'unauthorized' });
  });

  it('rejects what cannot be rendered before it is stored', async () => {
    const stored = await jobs().countDocuments();
    const bodies = [
      { url: 'http://127.0.0.1/' },
      { html: 'x', ttl: '400h' },
      { html: 'x', ttl: 5 },
      { html: 'x', ttl: '1s' },
      { html: 'x', nonsense: 1 },
      {},
    ];
    const codes = [];
    for (const body of bodies) codes.push((await error(client.call('POST', '', body))).code);
    expect(codes).to.deep.equal(['ssrf_blocked', ...Array(5).fill('validation_error')]);
    expect(await jobs().countDocuments()).to.equal(stored);
  });

  it('answers a long poll when the render ends', async () => {
    const { id } = await client.submit(LONG);
    await until(id, 'running');
    const poll = client.call('GET', `/${id}?wait=60s`);
    await client.call('DELETE', `/${id}`);
    expect(JSON.parse((await poll).body.toString()).status).to.equal('canceled');
  });

  it('answers at once when 32 calls of the account wait, and still renders', async () => {
    const { id } = await client.submit(LONG);
    await until(id, 'running');
    const polls: ReturnType<AsyncClient['call']>[] = [];
    const poll = () => polls.push(client.call('GET', `/${id}?wait=60s`));
    // Few at a time: until they wait, they are among the open requests of the account.
    while (poll() < 32) await client.read(id);
    await eventually(async () => {
      const began = performance.now();
      expect((await client.call('GET', `/${id}?wait=1s`)).status).to.equal(200);
      const waited = performance.now() - began >= 900;
      // It arrived before one of the others, which did not wait then.
      if (waited) poll();
      expect(waited).to.equal(false);
    });
    expect((await pressroom.render(HELLO)).status).to.equal(200);
    await client.call('DELETE', `/${id}`);
    for (const each of polls) expect((await each).status).to.equal(200);
  });

  it('refuses more than the queue of the plan holds', async () => {
    const small = await installation({
      plan: 'tiny',
      workers: 0,
      env: { ...ASYNC, PRESSROOM_PLANS: 'tiny=1 queue=2' },
    });
    try {
      const own = asyncClient(small.api.port(), small.key);
      await own.submit(HELLO);
      await own.submit(HELLO);
      const answer = await own.call('POST', '', HELLO);
      expect(answer.error()).to.include({ code: 'concurrency_limit' });
      expect(answer.headers).to.include({ 'retry-after': '30' });
      // Over 64 KiB, which would be stored outside of the job.
      const large = await own.call('POST', '', { html: 'x'.repeat(100_000) });
      expect(large.error()).to.include({ code: 'concurrency_limit' });
      expect(await small.store.console.storedPdfChunks.countDocuments()).to.equal(0);
    } finally {
      await small.stop();
    }
  });

  it('makes expired renders unreadable at once, and deletes their keys', async () => {
    const { id } = await client.submit(HELLO);
    await client.end(id);
    await jobs().updateOne({ _id: id }, { $set: { expiresAt: new Date(Date.now() - 1) } });
    expect(await error(client.call('GET', `/${id}/pdf`))).to.include({ status: 410, code: 'gone' });
    await sweep();
    expect(await jobs().findOne({ _id: id })).not.to.have.property('dataKey');
    expect((await client.read(id)).status).to.equal('succeeded');
  });

  it('runs a job again whose process died, and fails it after three attempts', async () => {
    const first = await client.submit(LONG);
    await until(first.id, 'running');
    const [again, failing] = [await client.submit(HELLO), await client.submit(HELLO)];
    const attempts = (count: number) => Array(count).fill({ startedAt: new Date() });
    const orphaned = { status: 'running' as const, lease: 'of a dead process' };
    await jobs().updateOne({ _id: again.id }, { $set: { ...orphaned, attemptLog: attempts(1) } });
    await jobs().updateOne({ _id: failing.id }, { $set: { ...orphaned, attemptLog: attempts(3) } });
    await sweep();
    const failed = await client.end(failing.id);
    expect(failed).to.include({ status: 'failed', attempts: 3 });
    expect(failed.error?.message).to.include('interrupted 3 times');
    await until(again.id, 'queued');
    await client.call('DELETE', `/${first.id}`);
    expect(await client.end(again.id)).to.include({ status: 'succeeded', attempts: 2 });
  });

  it('writes one entry to the outbox for each render that ended', async () => {
    await eventually(async () => {
      const ended = await jobs().countDocuments({ status: { $nin: ['queued', 'running'] } });
      expect(await pressroom.store.asynchronous.outbox.countDocuments()).to.equal(ended);
    });
  });
});
