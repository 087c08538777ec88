// @proves POST /v1/batches, GET /v1/batches/{id}, DELETE /v1/batches/{id}

import { connect } from 'node:net';
import { expect } from 'chai';
import type { AsyncRender } from '../../../common/contract/async-renders.ts';
import type { Batch } from '../../../common/contract/batches.ts';
import { type BatchClient, batchClient } from '../../support/async-fixture.ts';
import { eventually } from '../../support/eventually.ts';
import { type Answer, type Installation, installation } from '../../support/installation.ts';
import { pdfText } from '../../support/pdf.ts';

const ASYNC = { PRESSROOM_ASYNC: 'on', PRESSROOM_SECRET: 'a secret of these tests' };
const NO_ID = `bat_${'0'.repeat(32)}`;
const MAX_BYTES = 200_000;
const invoice = (number: number) => ({
  html: `<h1>Invoice ${number}</h1>`,
  reference: `invoice-${number}`,
});
const LONG = { html: '<h1>long</h1>', wait_for_expression: 'false' };
const lines = (...items: unknown[]) => items.map(item => JSON.stringify(item)).join('\n');

describe('batches of renders', () => {
  let pressroom: Installation;
  let client: BatchClient;

  before(async () => {
    pressroom = await installation({
      plan: 'small',
      env: {
        ...ASYNC,
        PRESSROOM_PLANS: 'small=2 queue=20',
        PRESSROOM_BATCH_BYTES: String(MAX_BYTES),
        PRESSROOM_BODY_MAX: '100000',
      },
    });
    client = batchClient(pressroom.api.port(), pressroom.key);
  });
  after(() => pressroom.stop());
  afterEach(async () => {
    await pressroom.worker.until({ busy: 0, ready: 2 });
    // Nothing is left of batches that were rejected or not completed.
    await eventually(async () => expect(await requestsWithoutJob()).to.deep.equal([]));
  });

  const jobs = () => pressroom.store.asynchronous.jobs;
  const requestsWithoutJob = async () => {
    const ofJobs = new Set(await jobs().distinct('_id'));
    const files: string[] = await pressroom.store.console.storedPdfChunks.distinct('files_id');
    return files.filter(file => file.endsWith('/request') && !ofJobs.has(file.split('/')[0]!));
  };
  const rendersOf = async ({ id }: Pick<Batch, 'id'>, filter = '') => {
    const { items } = await client.read<{ items: AsyncRender[] }>(
      `/v1/renders?batch=${id}&limit=100${filter}`,
    );
    return items.sort((a, b) => a.batch!.index - b.batch!.index);
  };
  const finished = (batch: Batch) =>
    eventually(async () => {
      const now = await client.read<Batch>(`/v1/batches/${batch.id}`);
      expect(now.counts.queued + now.counts.running).to.equal(0);
      return now;
    });
  /** The error of a batch of which nothing may be stored. */
  const rejection = async (body: string | Buffer, type?: string) => {
    const before = await jobs().countDocuments();
    const answer = await client.post(body, type);
    await eventually(async () => expect(await jobs().countDocuments()).to.equal(before));
    return { status: answer.status, ...answer.error() };
  };

  it('are rendered, counted and downloaded like other renders', async () => {
    const before = await pressroom.usage();
    const defaults = { format: 'A5', ttl: '2h', reference: 'none' };
    const body = lines({ defaults }, invoice(1), invoice(2), { html: '<p>last</p>' });
    const answer = await client.post(body);
    expect(answer.status).to.equal(202);
    const batch: Batch = JSON.parse(answer.body.toString());
    expect(batch.id).to.match(/^bat_[0-9a-f]{32}$/);
    expect(answer.headers).to.include({
      location: `http://localhost:8080/v1/batches/${batch.id}`,
      'retry-after': '2',
    });
    expect(batch).to.deep.include({
      total: 3,
      links: {
        self: `http://localhost:8080/v1/batches/${batch.id}`,
        renders: `http://localhost:8080/v1/renders?batch=${batch.id}`,
      },
    });
    expect(batch.counts).to.include({ queued: 3, running: 0, succeeded: 0 });
    const ended = await finished(batch);
    expect(ended.counts).to.deep.equal({
      queued: 0,
      running: 0,
      succeeded: 3,
      failed: 0,
      canceled: 0,
      expired: 0,
    });
    expect(await pressroom.usage()).to.equal(before + 3);
    const renders = await rendersOf(batch);
    expect(renders.map(({ reference }) => reference)).to.deep.equal([
      'invoice-1',
      'invoice-2',
      'none',
    ]);
    for (const [index, render] of renders.entries()) {
      expect(render.batch).to.deep.equal({ id: batch.id, index });
      expect(render.created_at).to.equal(batch.created_at);
      expect(Date.parse(render.expires_at) - Date.parse(render.created_at)).to.equal(2 * 3600e3);
    }
    const pdf = await client.call('GET', `/v1/renders/${renders[1]!.id}/pdf`);
    expect(await pdfText(pdf.body)).to.include('Invoice 2');
    expect(await rendersOf(batch, '&status=failed')).to.deep.equal([]);
    expect((await client.call('GET', `/v1/batches/${batch.id}`)).headers).not.to.have.property(
      'retry-after',
    );
  });

  it('are accepted as a JSON array, and start in their order', async () => {
    const items = Array.from({ length: 8 }, (_, nth) => invoice(nth));
    const batch = await client.submit(JSON.stringify(items, undefined, 2), 'application/json');
    await finished(batch);
    const listed = await client.read<{ items: AsyncRender[] }>(`/v1/renders?batch=${batch.id}`);
    expect(listed.items.map(render => render.batch!.index)).to.deep.equal([7, 6, 5, 4, 3, 2, 1, 0]);
    const started = (await rendersOf(batch)).map(({ started_at }) => started_at!);
    expect(started).to.deep.equal([...started].sort());
  });

  it('are rejected as a whole, with the line of each mistake', async () => {
    const body = lines(invoice(1), { html: 'x', nonsense: 1 }, {}, invoice(2));
    expect(await rejection(`${body}\n{"html": \n\n"text"\n`)).to.deep.include({
      status: 400,
      code: 'validation_error',
      message:
        '4 render requests of the batch are invalid, so none was queued. ' +
        'Line 2: `nonsense` is not a valid field. See /docs for the list of fields. ' +
        'Line 3: Send exactly one of `html` and `url`. The request has neither. ' +
        'Line 5: It is not valid JSON: Unexpected end of JSON input. ' +
        'Line 7: The request must be a JSON object with `html` or `url`, not a string.',
    });
    const array = JSON.stringify([invoice(1), { url: 'http://127.0.0.1/' }]);
    expect((await rejection(array, 'application/json')).message).to.include(
      '1 render request of the batch is invalid, so none was queued. Item 2: `url` points to',
    );
    expect((await rejection('{}\n'.repeat(30))).message).to.match(
      /^At least 20 render requests .* Line 20: /,
    );
  });

  for (const [what, body, message, type] of [
    ['no render request', '\n \n', 'The batch is empty.', undefined],
    ['defaults alone', '{"defaults":{}}', 'The batch is empty.', undefined],
    ['defaults of another type', '{"defaults":[]}', '`defaults` must be an object.', undefined],
    ['later defaults', '{"html":"x"}\n{"defaults":{}}', 'Line 2: `defaults` is not', undefined],
    ['two defaults', '{"defaults":{}}\n{"defaults":{}}', '`defaults` can be given', undefined],
    ['no array', '{"html":"x"}', 'it does not begin with `[`', 'application/json'],
    ['an open array', '[{"html":"x"}', 'it ends before', 'application/json'],
    ['another type', '{}', 'or `Content-Type: application/json`', 'text/plain'],
  ] as const)
    it(`are rejected with ${what}`, async () => {
      const error = await rejection(body, type);
      expect(error.code).to.equal('validation_error');
      expect(error.message).to.include(message);
    });

  it('are rejected with more than 1,000', async () => {
    const error = await rejection('{"html":"x"}\n'.repeat(1_001));
    expect(error.code).to.equal('validation_error');
    expect(error.message).to.include('at most 1000 render requests');
  });

  it('are rejected if they are too large, as a whole or in one line', async () => {
    const line = lines({ html: 'x'.repeat(100_000) });
    expect(await rejection(`{"html":"x"}\n${line}`)).to.include({
      code: 'payload_too_large',
      message: 'Line 2 is larger than 100000 bytes.',
    });
    const halves = lines({ html: 'x'.repeat(90_000) }, { html: 'x'.repeat(90_000) });
    expect((await rejection(`${halves}\n${' '.repeat(30_000)}`)).message).to.equal(
      `The request body is larger than ${MAX_BYTES} bytes. Split it into smaller batches.`,
    );
  });

  it('count the defaults in each render request', async () => {
    const defaults = { html: 'x'.repeat(60_000) };
    const error = await rejection(lines({ defaults }, {}, {}, {}, {}));
    expect(error.code).to.equal('payload_too_large');
    expect(error.message).to.include(`With its defaults, the batch is larger than ${MAX_BYTES}`);
    const line = lines({ defaults }, { css: 'x'.repeat(50_000) });
    expect((await rejection(line)).message).to.include('With its defaults, Line 2 is larger');
    const mistake = lines({ defaults: { formt: 'A4' } }, invoice(1), invoice(2));
    expect((await rejection(mistake)).message).to.match(
      /^1 render request .* Line 1: `formt` is not a valid field. Did you mean `format`\?$/,
    );
  });

  it('have no more renders than may wait', async () => {
    const many = lines(...Array.from({ length: 21 }, (_, nth) => invoice(nth)));
    expect(await rejection(many)).to.include({
      status: 429,
      code: 'concurrency_limit',
      message:
        'The batch has 21 renders, but your plan allows 20 waiting renders. Submit smaller batches.',
    });
    const together = await Promise.all(
      Array.from({ length: 6 }, () => client.post(lines(...Array(9).fill(LONG)))),
    );
    const isAccepted = ({ status }: Answer) => status === 202;
    const batches: Batch[] = together
      .filter(isAccepted)
      .map(({ body }) => JSON.parse(body.toString()));
    for (const { id } of batches) await client.read(`/v1/batches/${id}`, 'DELETE');
    // One, if the first was counted twice for a moment: as being stored, and as stored.
    expect(batches.length).to.be.within(1, 2);
    for (const answer of together.filter(each => !isAccepted(each)))
      expect(answer.error()).to.include({ code: 'concurrency_limit' });
  });

  it('are invisible until they are complete, and gone when the client disconnects', async () => {
    // The number of waiting renders may be a second old, and leave no place.
    await finished(await eventually(() => client.submit(lines(invoice(1)))));
    const before = await jobs().countDocuments();
    const socket = connect(pressroom.api.port(), '127.0.0.1');
    socket.write(
      `POST /v1/batches HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${pressroom.key}\r\n` +
        'Content-Type: application/x-ndjson\r\nContent-Length: 190000\r\n\r\n',
    );
    const large = { html: `<p>${'x'.repeat(70_000)}</p>` };
    const body = `${lines(large, large)}\n${'{"html":"x"}\n'.repeat(200)}`;
    socket.write(body);
    await eventually(async () => expect(await requestsWithoutJob()).to.have.length.at.least(100));
    const { items } = await client.read<{ items: AsyncRender[] }>('/v1/renders?status=queued');
    expect(items).to.deep.equal([]);
    socket.destroy();
    await eventually(async () => expect(await requestsWithoutJob()).to.deep.equal([]));
    expect(await jobs().countDocuments()).to.equal(before);
  });

  it('cancel what has not ended', async () => {
    // The number of waiting renders may be a second old.
    const batch = await eventually(() => client.submit(lines(invoice(1), LONG, LONG, LONG)));
    await eventually(async () => {
      const { counts } = await client.read<Batch>(`/v1/batches/${batch.id}`);
      expect(counts).to.include({ succeeded: 1, running: 1 });
    });
    for (let again = 0; again < 2; again++) {
      const { counts } = await client.read<Batch>(`/v1/batches/${batch.id}`, 'DELETE');
      expect(counts).to.include({ succeeded: 1, canceled: 3, queued: 0, running: 0 });
    }
  });

  it('fail the render whose request is gone from the database, and render the others', async () => {
    const batch = await eventually(() => client.submit(lines(LONG, invoice(1), invoice(2))));
    const [long, gone, last] = await rendersOf(batch);
    const { storedPdfChunks } = pressroom.store.console;
    await storedPdfChunks.deleteOne({ files_id: `${gone!.id}/request` });
    await client.call('DELETE', `/v1/renders/${long!.id}`);
    await finished(batch);
    const [, failed, succeeded] = await rendersOf(batch);
    expect(failed!.error).to.include({ code: 'render_failed', reason: 'internal' });
    expect(failed!.error!.message).to.include('request is missing');
    expect(succeeded).to.include({ id: last!.id, status: 'succeeded' });
  });

  it('are hidden from other accounts, and need scopes', async () => {
    const batch = await client.submit(lines({ ...invoice(1), sandbox: true }));
    await finished(batch);
    await pressroom.accounts.createAccount('another', { plan: 'free' });
    const { text } = await pressroom.accounts.createKey('another', { name: 'test' });
    const other = batchClient(pressroom.api.port(), text);
    for (const method of ['GET', 'DELETE'])
      for (const [who, id] of [
        [other, batch.id],
        [client, NO_ID],
        [client, 'bat_x'],
      ] as const)
        expect((await who.call(method, `/v1/batches/${id}`)).error().code).to.equal('not_found');
    const listed = await other.read<{ items: unknown[] }>(`/v1/renders?batch=${batch.id}`);
    expect(listed.items).to.deep.equal([]);
    const key = await pressroom.accounts.createKey(pressroom.account, {
      name: 'reader',
      scopes: ['read'],
    });
    const reader = batchClient(pressroom.api.port(), key.text);
    expect(await reader.read<Batch>(`/v1/batches/${batch.id}`)).to.deep.include({ total: 1 });
    for (const call of [
      reader.post(lines(invoice(1))),
      reader.call('DELETE', `/v1/batches/${batch.id}`),
    ])
      expect((await call).error().code).to.equal('unauthorized');
  });
});
