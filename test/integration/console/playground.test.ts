import { expect } from 'chai';
import {
  type ConsoleFixture,
  consoleFixture,
  type TestUser,
} from '../../support/console/console-fixture.ts';
import { eventually } from '../../support/eventually.ts';
import { type Call, httpCall } from '../../support/http-call.ts';
import { isBlank, pdfInfo, pdfText } from '../../support/pdf.ts';

const HELLO = { html: '<title>Greeting</title><h1>Hello, world</h1>' };
const LONG = { html: '<h1>long</h1>', wait_for_expression: 'false' };
const EMPTY = { html: '<title>x</title>' };

describe('the playground', () => {
  let fixture: ConsoleFixture;
  let developer: TestUser;
  before(async () => {
    fixture = await consoleFixture({ plan: 'starter' });
    developer = await fixture.createUser({ role: 'developer' });
  });
  after(() => fixture.stop());
  afterEach(async () => {
    await fixture.worker.until({ busy: 0, ready: 2 });
    await eventually(async () => expect(await fixture.running()).to.equal(0));
  });

  /** Like the call of the page; can disconnect. */
  function render(body: unknown, { cookie } = developer, account = fixture.accountId): Call {
    const headers = { cookie, 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' };
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    return httpCall(
      fixture.api.port(),
      'POST',
      `/console/v1/accounts/${account}/playground/render`,
      headers,
      text,
    );
  }

  it('renders with the watermark by default and does not count it', async () => {
    const before = await fixture.usage();
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
      /^admit;dur=[\d.]+, queue;dur=.*, print;dur=[\d.]+, post;dur=[\d.]+, other;dur=[\d.]+, isolation;desc="warm"$/,
    );
    expect(answer.headers).to.not.have.property('x-usage-count');
    expect(await pdfInfo(answer.body)).to.include({ pages: 1, title: 'Greeting' });
    expect(await pdfText(answer.body)).to.include('Hello, world');
    expect(await isBlank((await render(EMPTY)).body)).to.equal(false);
    expect(await isBlank((await render({ ...EMPTY, sandbox: true })).body)).to.equal(false);
    expect(await fixture.usage()).to.equal(before);
  });

  it('renders without the watermark when `sandbox` is false, and counts it', async () => {
    const before = await fixture.usage();
    const answer = await render({ ...EMPTY, sandbox: false });
    expect(answer.headers)
      .to.include({ 'x-usage-count': String(before + 1) })
      .and.to.not.have.property('x-sandbox');
    expect(answer.headers['server-timing']).to.include('settle;dur=');
    expect(await isBlank(answer.body)).to.equal(true);
    expect(await fixture.usage()).to.equal(before + 1);
  });

  it('shares the concurrency limit with the API', async () => {
    const calls = [render(LONG), fixture.render(LONG)];
    const gone = calls.map(call => call.catch(() => {}));
    await fixture.worker.until({ busy: 2 });
    for (const rejected of [await render(HELLO), await fixture.render(HELLO)]) {
      expect(rejected.status).to.equal(429);
      expect(rejected.error().code).to.equal('concurrency_limit');
      expect(rejected.headers['x-concurrency-limit']).to.equal('2');
      expect(Number(rejected.headers['retry-after'])).to.be.within(1, 30);
    }
    calls[1]!.disconnect();
    await eventually(async () => expect(await fixture.running()).to.equal(1));
    expect((await render(HELLO)).status).to.equal(200);
    calls[0]!.disconnect();
    await Promise.all(gone);
  });

  it('frees slot and lease when the client disconnects, and counts nothing', async () => {
    const before = await fixture.usage();
    const call = render({ ...LONG, sandbox: false });
    const gone = call.catch(error => error.name);
    await fixture.worker.until({ busy: 1 });
    call.disconnect();
    expect(await gone).to.equal('AbortError');
    await fixture.worker.until({ busy: 0, ready: 2 });
    await eventually(async () => expect(await fixture.running()).to.equal(0));
    expect(await fixture.usage()).to.equal(before);
  });

  it('rejects what /v1/render rejects, with the same messages', async () => {
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
      const [here, there] = [await render(body), await fixture.render(body)];
      const { request_id: _one, ...error } = here.error();
      const { request_id: _two, ...expected } = there.error();
      expect([here.status, error], JSON.stringify(body)).to.deep.equal([there.status, expected]);
      expect(here.status).to.be.within(400, 502);
    }
  });

  it('accepts bodies up to the limit of /v1/render', async () => {
    const html = `<!--${'x'.repeat(1_000_000)}--><p>LARGE`;
    expect(await pdfText((await render({ html })).body)).to.include('LARGE');
    const answer = await render({ html: 'x'.repeat(10 * 1024 * 1024) });
    expect(answer.status).to.equal(400);
    expect(answer.error()).to.include({ code: 'payload_too_large' });
  });

  it('returns the reason of a failed render', async () => {
    const answer = await render({
      html: `<p>${'x'.repeat(100)}`,
      single_page: true,
      css: 'p { height: 300in }',
    });
    expect(answer.status).to.equal(502);
    expect(answer.error()).to.include({ code: 'render_failed' });
    expect(answer.error().reason).to.be.a('string');
  });

  it('rejects a suspended account, and serves it again when it is active', async () => {
    await fixture.accounts.setAccount(fixture.account, { state: 'paused' });
    const answer = await render(HELLO);
    expect(answer.status).to.equal(403);
    expect(answer.error().code).to.equal('subscription_inactive');
    expect(answer.error().message).to.include('http://localhost:8080/app');
    await fixture.accounts.setAccount(fixture.account, { state: 'active' });
    expect((await render(HELLO)).status).to.equal(200);
  });

  it('reaches the intranet only from an account with `intranet`', async () => {
    const url = 'http://127.0.0.1:8080/';
    expect((await render({ url })).error().code).to.equal('ssrf_blocked');
    const denied = async () =>
      Number(
        /pressroom_egress_denied_total\{reason="address"\} (\d+)/.exec(
          await fixture.worker.metrics.text(),
        )?.[1] ?? 0,
      );
    expect(await denied()).to.equal(0);
    await fixture.accounts.setAccount(fixture.account, { intranet: true });
    // Passes the API, and is blocked by the egress guard, which has the allowlist.
    expect((await render({ url })).error().code).to.equal('ssrf_blocked');
    expect(await denied()).to.be.greaterThan(0);
    await fixture.accounts.setAccount(fixture.account, { intranet: false });
  });

  describe('is closed', () => {
    const rejected = async (person: TestUser) => {
      const before = await fixture.usage();
      const answer = await render({ ...HELLO, sandbox: false }, person);
      expect(await fixture.usage()).to.equal(before);
      return { status: answer.status, code: answer.error().code };
    };

    it('to viewers and to the billing role', async () => {
      for (const role of ['viewer', 'billing'] as const)
        expect(await rejected(await fixture.createUser({ role }))).to.deep.equal({
          status: 403,
          code: 'forbidden',
        });
    });

    it('to members of other accounts, and to an operator who is not a member', async () => {
      const account = await fixture.account2();
      for (const person of [
        await fixture.createUser({ role: 'owner', account }),
        await fixture.createUser({ operator: true }),
      ])
        expect(await rejected(person)).to.deep.equal({ status: 404, code: 'not_found' });
    });

    it('from the next call on when the session or the role was removed', async () => {
      const [out, demoted] = [
        await fixture.createUser({ role: 'developer' }),
        await fixture.createUser({ role: 'developer' }),
      ];
      expect((await render(HELLO, out)).status).to.equal(200);
      expect((await render(HELLO, demoted)).status).to.equal(200);
      await fixture.store.console.sessions.deleteMany({ user: out.id });
      await fixture.store.console.teams.updateOne(
        { _id: fixture.accountId, 'members.user': demoted.id },
        { $set: { 'members.$.role': 'viewer' } },
      );
      expect(await rejected(out)).to.deep.equal({ status: 401, code: 'unauthorized' });
      expect(await rejected(demoted)).to.deep.equal({ status: 403, code: 'forbidden' });
    });
  });
});
