// @proves POST /v1/trial/render, sandbox, X-Sandbox, rate_limited, client-ip, trial

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { pino } from 'pino';
import { errorEnvelopeSchema } from '../../../common/contract/answers.ts';
import { readSamples } from '../../fault/harness/samples.ts';
import { eventually } from '../../support/eventually.ts';
import { httpCall } from '../../support/http-call.ts';
import { rawConnection } from '../../support/http-fixture.ts';
import { html, type Installation, installation } from '../../support/installation.ts';
import { pdfPixels, pdfText } from '../../support/pdf.ts';
import {
  codeOf,
  HELLO,
  newAddress,
  PATH,
  PROXIES,
  port,
  RATE_LIMITED,
  rejected,
  trial,
  untilAdmitted,
} from '../../support/trial-calls.ts';

/** Runs until the client disconnects. */
const LONG = { html: html('long'), wait_for_expression: 'false' };

describe('a trial render', () => {
  let pressroom: Installation;
  let site: Server;
  let hits = 0;
  const lines: string[] = [];

  before(async () => {
    site = createServer((_, response) => {
      hits += 1;
      response.writeHead(200, { 'access-control-allow-origin': '*' }).end('from inside');
    });
    await new Promise<void>(resolve => site.listen(0, '127.0.0.1', resolve));
    pressroom = await installation({
      plan: 'free',
      intranet: true,
      env: {
        ...PROXIES,
        PRESSROOM_EGRESS_ALLOW: `127.0.0.1:${(site.address() as AddressInfo).port}`,
      },
      log: pino({ level: 'debug' }, { write: (line: string) => void lines.push(line) }),
    });
  });
  after(async () => {
    await pressroom?.stop();
    site?.closeAllConnections();
    site?.close();
  });
  beforeEach(async () => {
    await pressroom.worker.until({ busy: 0, ready: 2 });
    await pressroom.store.trialLimits.deleteMany({});
  });

  const account = () => pressroom.store.accounts.findOne({ name: pressroom.account });
  const samples = async () => readSamples(await pressroom.metrics.text());

  it('returns the PDF without a key, with X-Request-Id as the only extra header', async () => {
    const answer = await trial(pressroom, HELLO);
    expect(answer.status).to.equal(200);
    expect(await pdfText(answer.body)).to.contain('Hello, trial');
    expect(Object.keys(answer.headers)).to.have.members([
      'x-request-id',
      'x-content-type-options',
      'content-type',
      'content-disposition',
      'cache-control',
      'content-length',
      'date',
      'connection',
    ]);
    expect(answer.headers).to.include({
      'content-type': 'application/pdf',
      'content-disposition': 'inline; filename="render.pdf"',
      'cache-control': 'no-store',
    });
    expect(answer.headers['x-request-id']).to.match(/^[0-9a-f]{8}-[0-9a-f]{4}-7/);
  });

  it('has a watermark and X-Sandbox when `sandbox` is true', async () => {
    const [plain, stamped] = [
      await trial(pressroom, HELLO),
      await trial(pressroom, { ...HELLO, sandbox: true }),
    ];
    expect(stamped.status).to.equal(200);
    expect(stamped.headers).to.include({ 'x-sandbox': 'true', 'content-type': 'application/pdf' });
    expect(stamped.headers).to.not.have.any.keys('x-usage-count', 'x-pdf-pages', 'server-timing');
    expect(await pdfPixels(stamped.body)).to.not.equal(await pdfPixels(plain.body));
    expect(await pdfText(stamped.body)).to.contain('Hello, trial');
  });

  it('does not change the account of a caller that sends a key', async () => {
    const before = await account();
    const answer = await trial(pressroom, HELLO, newAddress(), {
      authorization: `Bearer ${pressroom.key}`,
    });
    expect(answer.status).to.equal(200);
    expect(await account()).to.deep.equal(before);
  });

  it("does not count toward an account's concurrency limit", async () => {
    const running = trial(pressroom, LONG);
    running.catch(() => {});
    await pressroom.worker.until({ busy: 1 });
    expect((await pressroom.render(HELLO)).status).to.equal(200);
    running.disconnect();
  });

  it('returns the same validation errors as a render with a key', async () => {
    for (const body of [
      {},
      { html: 'x', scale: 3 },
      { html: 'x', printBackground: true },
      '{',
      '',
    ]) {
      const answers = [await trial(pressroom, body), await pressroom.render(body)];
      const [ofTrial, ofCustomer] = answers.map(answer => ({
        status: answer.status,
        ...answer.error(),
        request_id: undefined,
      }));
      expect(ofTrial).to.deep.equal(ofCustomer);
      expect(ofTrial!.status).to.equal(400);
    }
  });

  it('cannot reach an address that is reserved for accounts with intranet', async () => {
    const inside = `http://127.0.0.1:${(site.address() as AddressInfo).port}/`;
    const page = {
      html: html(`<p id="result">waiting</p><script>
        fetch('${inside}').then(answer => answer.text(), () => 'refused').then(text => { result.textContent = text; result.className = 'done'; });
      </script>`),
      wait_for_selector: '.done',
    };
    expect(await pdfText(await pressroom.pdf(page))).to.contain('from inside');
    const before = hits;
    const answer = await trial(pressroom, page);
    expect(await pdfText(answer.body)).to.contain('refused');
    expect(hits).to.equal(before);
    expect((await trial(pressroom, { url: inside })).error().code).to.be.oneOf([
      'ssrf_blocked',
      'validation_error',
    ]);
    expect(hits).to.equal(before);
  });

  it('is limited to five per minute per address, and other addresses are not affected', async () => {
    const mine = newAddress();
    for (let nth = 0; nth < 5; nth++)
      expect(codeOf(await trial(pressroom, HELLO, mine))).to.equal('ok');
    const sixth = await trial(pressroom, HELLO, mine);
    expect(rejected(sixth)).to.deep.equal(RATE_LIMITED);
    expect(sixth.error()).to.include({
      code: 'rate_limited',
      request_id: sixth.headers['x-request-id'],
    });
    expect(sixth.error().message).to.contain('5 renders per minute');
    expect(codeOf(await trial(pressroom, HELLO))).to.equal('ok');
  });

  it('is not counted when the body is invalid', async () => {
    const mine = newAddress();
    for (const body of [
      '{',
      {},
      { html: 7 },
      { url: 'http://10.0.0.1/' },
      { html: 'x', url: 'http://example.com/' },
      '',
    ])
      expect((await trial(pressroom, body, mine)).status).to.be.oneOf([400, 422]);
    expect(await pressroom.store.trialLimits.countDocuments()).to.equal(0);
    for (let nth = 0; nth < 5; nth++)
      expect(codeOf(await trial(pressroom, HELLO, mine))).to.equal('ok');
    expect(codeOf(await trial(pressroom, HELLO, mine))).to.equal('rate_limited');
  });

  it('is counted per IPv6 /64 and the same for both notations of an IPv4 address', async () => {
    for (let nth = 0; nth < 5; nth++)
      expect(codeOf(await trial(pressroom, HELLO, `2001:db8:1:2::${nth + 1}`))).to.equal('ok');
    expect(codeOf(await trial(pressroom, HELLO, '2001:db8:1:2:ffff::9'))).to.equal('rate_limited');
    expect(codeOf(await trial(pressroom, HELLO, '2001:db8:1:3::1'))).to.equal('ok');
    const mine = newAddress();
    for (let nth = 0; nth < 5; nth++)
      expect(codeOf(await trial(pressroom, HELLO, nth % 2 ? mine : `::ffff:${mine}`))).to.equal(
        'ok',
      );
    expect(codeOf(await trial(pressroom, HELLO, mine))).to.equal('rate_limited');
  });

  it('is rejected immediately while all trial slots are in use, and admitted when one is free', async () => {
    const running = trial(pressroom, LONG);
    running.catch(() => {});
    await pressroom.worker.until({ busy: 1 });
    const answer = await trial(pressroom, HELLO);
    expect(rejected(answer)).to.deep.equal(RATE_LIMITED);
    expect(answer.error().message).to.contain('All trial slots are in use');
    running.disconnect();
    await untilAdmitted(pressroom);
  });

  it('is rejected before the body is sent when the client is known to be over its limit', async () => {
    const mine = newAddress();
    for (let nth = 0; nth < 5; nth++)
      expect(codeOf(await trial(pressroom, HELLO, mine))).to.equal('ok');
    const connection = await rawConnection(port(pressroom));
    const head = `POST ${PATH} HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${mine}\r\nContent-Type: application/json\r\nContent-Length: 5000000\r\n\r\n`;
    connection.send(head);
    const answer = await connection.answer();
    expect(answer.status).to.equal(429);
    expect(answer.headers).to.include({ 'retry-after': '60', connection: 'close' });
    connection.socket.destroy();
  });

  it('answers GET with 405 and an Allow header', async () => {
    const answer = await pressroom.call('GET', PATH);
    expect(answer.status).to.equal(405);
    expect(answer.headers['allow']).to.equal('POST');
  });

  it('is in the OpenAPI document with all its responses', async () => {
    const { paths } = JSON.parse((await pressroom.call('GET', '/openapi.json')).body.toString());
    const { security, responses } = paths[PATH].post;
    expect(security).to.deep.equal([]);
    expect(Object.keys(responses)).to.have.members(['200', '400', '422', '429', '502']);
    expect(Object.keys(responses['200'].headers)).to.have.members([
      'X-Request-Id',
      'X-Sandbox',
      'Content-Disposition',
    ]);
    expect(Object.keys(responses['429'].headers)).to.have.members(['X-Request-Id', 'Retry-After']);
    const { examples } = responses['429'].content['application/json'];
    expect(Object.keys(examples)).to.deep.equal(['rate_limited']);
    expect(errorEnvelopeSchema.parse(examples.rate_limited.value).error.code).to.equal(
      'rate_limited',
    );
  });

  it('is counted in metrics of its own and in no customer metric', async () => {
    const before = await samples();
    await trial(pressroom, HELLO);
    await trial(pressroom, { html: html('x'), pages: '7' });
    const after = await eventually(async () => {
      const now = await samples();
      const grown = (name: string, labels = {}) => now.sum(name, labels) - before.sum(name, labels);
      expect(grown('pressroom_trial_renders_total', { outcome: 'ok' })).to.equal(1);
      expect(grown('pressroom_trial_renders_total', { outcome: 'validation_error' })).to.equal(1);
      expect(grown('pressroom_http_requests_total', { route: PATH })).to.equal(2);
      return now;
    });
    for (const name of [
      'pressroom_renders_total',
      'pressroom_renders_settled_total',
      'pressroom_render_duration_seconds_count',
    ])
      expect(after.sum(name), name).to.equal(before.sum(name));
  });

  it('releases its slot and bytes when the client disconnects', async () => {
    const call = trial(pressroom, LONG);
    call.catch(() => {});
    await pressroom.worker.until({ busy: 1 });
    call.disconnect();
    await eventually(async () => {
      expect((await pressroom.store.trialLimits.findOne({ _id: 'places' }))!.leases).to.deep.equal(
        [],
      );
      expect((await samples()).sum('pressroom_in_flight_bytes')).to.equal(0);
    });
  });

  it('logs no client address', async () => {
    await trial(pressroom, HELLO);
    await eventually(() => expect(lines.some(line => line.includes(PATH))).to.equal(true));
    expect(lines.filter(line => /198\.51\.|2001:db8/.test(line))).to.deep.equal([]);
  });
});

describe('trial renders in several API processes', () => {
  let one: Installation;
  let two: Installation;
  before(async () => {
    one = await installation({ env: PROXIES });
    two = await installation({
      workers: 0,
      uri: one.uri,
      env: { ...PROXIES, PRESSROOM_WORKERS: one.worker.address },
    });
  });
  after(async () => {
    await two?.stop();
    await one?.stop();
  });

  it('share the calls of an address', async () => {
    const mine = newAddress();
    for (let nth = 0; nth < 5; nth++)
      await eventually(async () =>
        expect((await trial(nth % 2 ? one : two, HELLO, mine)).status).to.equal(200),
      );
    expect(codeOf(await trial(one, HELLO, mine))).to.equal('rate_limited');
    expect(codeOf(await trial(two, HELLO, mine))).to.equal('rate_limited');
  });

  it('share the trial slots', async () => {
    const running = trial(one, LONG);
    running.catch(() => {});
    await one.worker.until({ busy: 1 });
    expect(rejected(await trial(two, HELLO))).to.deep.equal(RATE_LIMITED);
    running.disconnect();
    await untilAdmitted(two);
  });
});

describe('trial renders in an API that trusts no proxy', () => {
  let pressroom: Installation;
  before(async () => {
    pressroom = await installation({ env: { PRESSROOM_TRIAL_PER_MINUTE: '2' } });
  });
  after(() => pressroom?.stop());

  it('are counted by the address of the connection, not by X-Forwarded-For', async () => {
    expect([
      codeOf(await trial(pressroom, HELLO)),
      codeOf(await trial(pressroom, HELLO)),
      codeOf(await trial(pressroom, HELLO)),
    ]).to.deep.equal(['ok', 'ok', 'rate_limited']);
  });
});

describe('an API with trial renders switched off', () => {
  let pressroom: Installation;
  before(async () => {
    pressroom = await installation({
      workers: 0,
      env: { PRESSROOM_TRIAL: 'off', PRESSROOM_WORKERS: 'ws://127.0.0.1:9' },
    });
  });
  after(() => pressroom?.stop());

  it('returns 404 at their path and does not describe it', async () => {
    const [answer, unknown] = [
      await trial(pressroom, HELLO),
      await httpCall(port(pressroom), 'POST', '/v1/trial/nothing'),
    ];
    expect(answer.status).to.equal(404);
    const { message, ...error } = answer.error();
    expect({ ...error, request_id: '' }).to.include({ code: unknown.error().code });
    expect(message).to.equal(unknown.error().message.replace('/v1/trial/nothing', PATH));
    expect((await pressroom.call('GET', PATH)).status).to.equal(404);
    expect((await pressroom.call('GET', '/openapi.json')).body.toString()).to.not.contain(PATH);
    expect((await pressroom.call('GET', '/docs')).body.toString()).to.not.contain(PATH);
  });
});
