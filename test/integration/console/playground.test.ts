import { expect } from 'chai';
import { type ConsoleRig, consoleRig, type Person } from '../../support/console/console-rig.ts';
import { eventually } from '../../support/eventually.ts';
import { type Call, httpCall } from '../../support/http-call.ts';
import { pdfInfo, pdfPicture, pdfText } from '../../support/pdf.ts';

const HELLO = { html: '<title>Greeting</title><h1>Hello, world</h1>' };
const LONG = { html: '<h1>long</h1>', wait_for_expression: 'false' };
const EMPTY = { html: '<title>x</title>' };

async function isBlank(pdf: Buffer): Promise<boolean> {
  const { width, height, at } = await pdfPicture(pdf);
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) if (at(x, y).some(part => part !== 255)) return false;
  return true;
}

describe('the playground', () => {
  let rig: ConsoleRig;
  let developer: Person;
  before(async () => {
    rig = await consoleRig({ plan: 'starter' });
    developer = await rig.person({ role: 'developer' });
  });
  after(() => rig.stop());
  afterEach(async () => {
    await rig.worker.until({ busy: 0, ready: 2 });
    await eventually(async () => expect(await rig.running()).to.equal(0));
  });

  /** Like the page's call; can hang up. */
  function render(body: unknown, { cookie } = developer, account = rig.accountId): Call {
    const headers = { cookie, 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' };
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    return httpCall(
      rig.api.port(),
      'POST',
      `/console/v1/accounts/${account}/playground/render`,
      headers,
      text,
    );
  }

  it('renders with the watermark unless told otherwise, and does not count that', async () => {
    const before = await rig.usage();
    const answer = await render(HELLO);
    expect(answer.status).to.equal(200);
    expect(answer.headers).to.include({
      'content-type': 'application/pdf',
      'content-disposition': 'inline; filename="render.pdf"',
      'cache-control': 'no-store',
      'x-pdf-pages': '1',
      'x-sandbox': 'true',
    });
    expect(answer.headers['x-request-id']).to.match(/^[0-9a-f-]{36}$/);
    expect(answer.headers['server-timing']).to.match(
      /^admit;dur=[\d.]+, queue;dur=.*, print;dur=[\d.]+, post;dur=[\d.]+$/,
    );
    expect(answer.headers).to.not.have.property('x-usage-count');
    expect(await pdfInfo(answer.body)).to.include({ pages: 1, title: 'Greeting' });
    expect(await pdfText(answer.body)).to.include('Hello, world');
    expect(await isBlank((await render(EMPTY)).body)).to.equal(false);
    expect(await isBlank((await render({ ...EMPTY, sandbox: true })).body)).to.equal(false);
    expect(await rig.usage()).to.equal(before);
  });

  it('renders without the watermark when that is switched off, and counts it', async () => {
    const before = await rig.usage();
    const answer = await render({ ...EMPTY, sandbox: false });
    expect(answer.headers)
      .to.include({ 'x-usage-count': String(before + 1) })
      .and.to.not.have.property('x-sandbox');
    expect(answer.headers['server-timing']).to.include('settle;dur=');
    expect(await isBlank(answer.body)).to.equal(true);
    expect(await rig.usage()).to.equal(before + 1);
  });

  it('holds the places of the plan together with the API', async () => {
    const calls = [render(LONG), rig.render(LONG)];
    const gone = calls.map(call => call.catch(() => {}));
    await rig.worker.until({ busy: 2 });
    for (const refused of [await render(HELLO), await rig.render(HELLO)]) {
      expect(refused.status).to.equal(429);
      expect(refused.error().code).to.equal('concurrency_limit');
      expect(refused.headers['x-concurrency-limit']).to.equal('2');
      expect(Number(refused.headers['retry-after'])).to.be.within(1, 30);
    }
    calls[1]!.hangUp();
    await eventually(async () => expect(await rig.running()).to.equal(1));
    expect((await render(HELLO)).status).to.equal(200);
    calls[0]!.hangUp();
    await Promise.all(gone);
  });

  it('gives slot and place back when the person goes away, and counts nothing', async () => {
    const before = await rig.usage();
    const call = render({ ...LONG, sandbox: false });
    const gone = call.catch(error => error.name);
    await rig.worker.until({ busy: 1 });
    call.hangUp();
    expect(await gone).to.equal('AbortError');
    await rig.worker.until({ busy: 0, ready: 2 });
    await eventually(async () => expect(await rig.running()).to.equal(0));
    expect(await rig.usage()).to.equal(before);
  });

  it('refuses what /v1/render refuses, in the same words', async () => {
    const wrong: unknown[] = [
      {},
      { html: 'x', url: 'http://example.com/' },
      { html: 'x', printBackground: true },
      { html: 'x', wait_for_selector: '][' },
      { html: 'x', sandbox: 'no' },
      { html: { $gt: '' } },
      [],
      'no json',
      { url: 'http://10.0.0.1/' },
      { html: '<script>location.href = "http://a%20b/"</script>', wait_delay: '300ms' },
    ];
    for (const body of wrong) {
      const [here, there] = [await render(body), await rig.render(body)];
      const { request_id: _one, ...error } = here.error();
      const { request_id: _two, ...expected } = there.error();
      expect([here.status, error], JSON.stringify(body)).to.deep.equal([there.status, expected]);
      expect(here.status).to.be.within(400, 502);
    }
  });

  it('takes a body as large as /v1/render takes, and none that is larger', async () => {
    const html = `<!--${'x'.repeat(1_000_000)}--><p>LARGE`;
    expect(await pdfText((await render({ html })).body)).to.include('LARGE');
    const answer = await render({ html: 'x'.repeat(10 * 1024 * 1024) });
    expect(answer.status).to.equal(400);
    expect(answer.error()).to.include({ code: 'payload_too_large' });
  });

  it('says that a page which fails has failed, with the reason', async () => {
    const answer = await render({
      html: `<p>${'x'.repeat(100)}`,
      single_page: true,
      css: 'p { height: 300in }',
    });
    expect(answer.status).to.equal(502);
    expect(answer.error()).to.include({ code: 'render_failed' });
    expect(answer.error().reason).to.be.a('string');
  });

  it('refuses a suspended account, and serves it again when it is active', async () => {
    await rig.accounts.setAccount(rig.account, { state: 'paused' });
    const answer = await render(HELLO);
    expect(answer.status).to.equal(403);
    expect(answer.error().code).to.equal('subscription_inactive');
    expect(answer.error().message).to.include('http://localhost:8080/app');
    await rig.accounts.setAccount(rig.account, { state: 'active' });
    expect((await render(HELLO)).status).to.equal(200);
  });

  it('reaches the intranet only from an account that may', async () => {
    const url = 'http://127.0.0.1:8080/';
    expect((await render({ url })).error().code).to.equal('ssrf_blocked');
    const denied = async () =>
      Number(
        /pressroom_egress_denied_total\{reason="address"\} (\d+)/.exec(
          await rig.worker.metrics.text(),
        )?.[1] ?? 0,
      );
    expect(await denied()).to.equal(0);
    await rig.accounts.setAccount(rig.account, { intranet: true });
    // Let through by the API, and refused by the guard, which alone knows the operator's list.
    expect((await render({ url })).error().code).to.equal('ssrf_blocked');
    expect(await denied()).to.be.greaterThan(0);
    await rig.accounts.setAccount(rig.account, { intranet: false });
  });

  describe('is closed', () => {
    const refused = async (person: Person) => {
      const before = await rig.usage();
      const answer = await render({ ...HELLO, sandbox: false }, person);
      expect(await rig.usage()).to.equal(before);
      return { status: answer.status, code: answer.error().code };
    };

    it('to a viewer, and to who only pays', async () => {
      for (const role of ['viewer', 'billing'] as const)
        expect(await refused(await rig.person({ role }))).to.deep.equal({
          status: 403,
          code: 'forbidden',
        });
    });

    it('to members of other accounts, and to an operator who is no member', async () => {
      const account = await rig.account2();
      for (const person of [
        await rig.person({ role: 'owner', account }),
        await rig.person({ operator: true }),
      ])
        expect(await refused(person)).to.deep.equal({ status: 404, code: 'not_found' });
    });

    it('from the next call on to whom the session or the role was taken', async () => {
      const [out, demoted] = [
        await rig.person({ role: 'developer' }),
        await rig.person({ role: 'developer' }),
      ];
      expect((await render(HELLO, out)).status).to.equal(200);
      expect((await render(HELLO, demoted)).status).to.equal(200);
      await rig.store.console.sessions.deleteMany({ user: out.id });
      await rig.store.console.teams.updateOne(
        { _id: rig.accountId, 'members.user': demoted.id },
        { $set: { 'members.$.role': 'viewer' } },
      );
      expect(await refused(out)).to.deep.equal({ status: 401, code: 'unauthorized' });
      expect(await refused(demoted)).to.deep.equal({ status: 403, code: 'forbidden' });
    });
  });
});
