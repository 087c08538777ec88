import { expect } from 'chai';
import { createByteBudget } from '../../../api/http/byte-budget.ts';
import { parseTrustedProxies } from '../../../api/http/caller.ts';
import { renderFailed } from '../../../common/contract/errors.ts';
import { readSamples } from '../../fault/harness/samples.ts';
import { eventually } from '../../support/eventually.ts';
import { renderHead } from '../../support/http-fixture.ts';
import { httpSuite } from '../../support/http-suite.ts';
import { reserveForOthers } from '../../support/reserved-budget.ts';

const GOOD = JSON.stringify({ html: '<p>Hello</p>' });
const REQUESTS = 'pressroom_http_requests_total';

describe('HTTP metrics', () => {
  const suite = httpSuite();

  const post = (key: string, body: string) =>
    suite.http.ask(suite.http.head(key, Buffer.byteLength(body)), body);
  const get = (path: string) => suite.http.ask(`GET ${path} HTTP/1.1`);
  const scrape = async () => readSamples(await suite.http.metrics.text());

  /** Waits until `made` requests are counted. They are counted after the response is sent. */
  const outcomes = (route: string, made: number) =>
    eventually(async () => {
      const samples = await scrape();
      expect(samples.sum(REQUESTS, { route })).to.equal(made);
      return Object.fromEntries(
        Object.entries(samples.by(REQUESTS, 'outcome')).filter(([outcome]) =>
          samples.sum(REQUESTS, { route, outcome }),
        ),
      );
    });

  it('counts requests that are rejected before the render', async () => {
    await suite.serve({ body: { maxBytes: 1_000, silentMs: 5_000, totalMs: 5_000 } });
    const { text } = await suite.fixture.account('free');
    await post(text, GOOD);
    await post('pressroom_live_wrong', GOOD);
    await post(text, '{');
    await post(text, JSON.stringify({ html: 'a'.repeat(2_000) }));
    await suite.http.ask('DELETE /v1/render HTTP/1.1');
    expect(await outcomes('/v1/render', 5)).to.deep.equal({
      ok: 1,
      unauthorized: 1,
      validation_error: 1,
      payload_too_large: 1,
      method_not_allowed: 1,
    });
  });

  for (const [peer, proxies, counts] of [
    ['an untrusted', [], { trusted: 0, untrusted: 1 }],
    ['a trusted', ['127.0.0.0/8', '::1'], { trusted: 1, untrusted: 0 }],
  ] as const)
    it(`counts requests with X-Forwarded-For of ${peer} peer`, async () => {
      await suite.serve({ trustedProxies: parseTrustedProxies(proxies) });
      await suite.http.ask('GET /healthz HTTP/1.1\nX-Forwarded-For: 203.0.113.7');
      await get('/healthz');
      expect((await scrape()).by('pressroom_http_forwarded_requests_total', 'type')).to.deep.equal(
        counts,
      );
    });

  it('labels a failed render with its reason', async () => {
    const budget = createByteBudget(1_000);
    reserveForOthers(budget, 1_000);
    await suite.serve({ budget });
    const { text } = await suite.fixture.account('free');
    await post(text, GOOD);
    expect(await outcomes('/v1/render', 1)).to.deep.equal({ overloaded: 1 });
  });

  it('reports a server-side failure before the render, but no client error and no render failure', async () => {
    const budget = createByteBudget(1_000);
    await suite.serve({ budget });
    const { text } = await suite.fixture.account('free');
    await post('pressroom_live_wrong', GOOD);
    await post(text, '{}');
    await post(text, GOOD);
    suite.http.state.during = async () => {
      throw renderFailed('worker_lost', 'The worker died.');
    };
    await post(text, GOOD);
    await outcomes('/v1/render', 4);
    expect(suite.http.earlyFailures).to.deep.equal([]);
    reserveForOthers(budget, 1_000);
    await post(text, GOOD);
    expect(suite.http.earlyFailures).to.deep.equal(['overloaded']);
  });

  it('counts all unknown paths under one route', async () => {
    await suite.serve();
    for (let i = 0; i < 20; i++) await get(`/${i}/pressroom_live_key?${i}`);
    await get('/v1/render/');
    await get('/docs');
    expect(await outcomes('other', 21)).to.deep.equal({ not_found: 21 });
    await outcomes('/docs', 1);
    expect(Object.keys((await scrape()).by(REQUESTS, 'route')).sort()).to.deep.equal([
      '/docs',
      'other',
    ]);
  });

  it('distinguishes a failed probe from a successful one', async () => {
    await suite.serve({
      health: { database: async () => {}, workers: () => ({ ready: 0, slots: 0 }) },
    });
    await get('/healthz');
    await get('/readyz');
    expect(await outcomes('/healthz', 1)).to.deep.equal({ ok: 1 });
    expect(await outcomes('/readyz', 1)).to.deep.equal({ unavailable: 1 });
  });

  it('counts a client disconnect', async () => {
    await suite.serve();
    const { text } = await suite.fixture.account('free');
    const begun = Promise.withResolvers<void>();
    suite.http.state.during = signal => {
      begun.resolve();
      return new Promise((_resolve, reject) =>
        signal.addEventListener('abort', () => reject(signal.reason)),
      );
    };
    const connection = await suite.http.open();
    connection.send(`${renderHead(text, GOOD.length)}${GOOD}`);
    await begun.promise;
    connection.socket.destroy();
    expect(await outcomes('/v1/render', 1)).to.deep.equal({ client_closed: 1 });
  });

  it('counts malformed requests in a metric of their own', async () => {
    await suite.serve();
    const connection = await suite.http.open();
    connection.send('this is not a request\r\n\r\n');
    expect((await connection.answer()).status).to.equal(400);
    const samples = await scrape();
    expect(samples.sum('pressroom_http_broken_requests_total')).to.equal(1);
    expect(samples.sum(REQUESTS)).to.equal(0);
  });

  it('shows open connections and reserved bytes', async () => {
    await suite.serve();
    const { text } = await suite.fixture.account('free');
    const proceed = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    suite.http.state.during = () => {
      begun.resolve();
      return proceed.promise;
    };
    const answer = post(text, GOOD);
    await begun.promise;
    const during = await scrape();
    expect(during.sum('pressroom_http_connections')).to.equal(1);
    expect(during.sum('pressroom_in_flight_bytes'))
      .to.be.at.least(GOOD.length)
      .and.equal(suite.http.budget.used());
    expect(during.sum('pressroom_in_flight_limit_bytes')).to.equal(2 ** 29);
    proceed.resolve();
    expect((await answer).status).to.equal(200);
    await eventually(async () => {
      const after = await scrape();
      expect([
        after.sum('pressroom_http_connections'),
        after.sum('pressroom_in_flight_bytes'),
      ]).to.deep.equal([0, 0]);
    });
  });
});
