import { expect } from 'chai';
import { BODY_TIMES } from '../../../api/http/body.ts';
import { createByteBudget } from '../../../api/http/byte-budget.ts';
import { renderHead } from '../../support/http-fixture.ts';
import { httpSuite } from '../../support/http-suite.ts';
import { type TestAccount, until } from '../../support/lease-fixture.ts';
import { reserveForOthers } from '../../support/reserved-budget.ts';

const KIB = 1_024;
const GOOD = JSON.stringify({ html: '<p>Hello</p>' });
const TIMES = { silentMs: 10_000, totalMs: 60_000 };

describe('the fair share of an account in the byte budget', () => {
  const suite = httpSuite();
  let account: TestAccount;
  beforeEach(async () => {
    account = await suite.fixture.account('scale');
  });

  /** A connection with a partial request: the headers and the first part of the body. */
  async function openRequest(declared: number, sent: string, key = account.text) {
    const connection = await suite.http.open();
    connection.send(`${renderHead(key, declared)}${sent}`);
    return connection;
  }

  it('charges only bytes that arrived, not the declared length', async () => {
    const budget = createByteBudget(3_000 * KIB);
    await suite.serve({ budget });
    await openRequest(700 * KIB, 'a'.repeat(10 * KIB));
    await until(() => budget.used() > 0);
    expect(budget.used()).to.be.within(30 * KIB, 60 * KIB);
  });

  it('charges three times the length of a complete body', async () => {
    const budget = createByteBudget(3_000 * KIB);
    await suite.serve({ budget });
    let during = 0;
    suite.http.state.during = async () => {
      during = budget.used();
    };
    const connection = await openRequest(GOOD.length, GOOD.slice(0, 5));
    connection.send(GOOD.slice(5));
    expect((await connection.answer()).status).to.equal(200);
    expect(during).to.equal(3 * GOOD.length);
  });

  it('responds 429 to an account that holds three quarters of the budget and still serves another account', async () => {
    const budget = createByteBudget(1_200 * KIB);
    await suite.serve({ budget });
    // Each request takes a quarter of the budget.
    for (let call = 1; call <= 3; call++) {
      await openRequest(100 * KIB, 'a'.repeat(100 * KIB - 1));
      await until(() => budget.used() >= call * 300 * KIB);
    }
    const fourth = await openRequest(GOOD.length, GOOD);
    const answer = await fourth.answer();
    expect(answer.status).to.equal(429);
    expect(answer.json().error.code).to.equal('concurrency_limit');
    expect(answer.headers).to.include({ 'retry-after': '2', 'x-concurrency-limit': '8' });
    // The rejection is the client's error and is not counted as overload.
    expect(suite.http.earlyFailures).to.deep.equal([]);

    const other = await suite.fixture.account('free');
    expect((await (await openRequest(GOOD.length, GOOD, other.text)).answer()).status).to.equal(
      200,
    );
  });

  it('rejects a body in transfer when other accounts take the remaining budget and releases its bytes', async () => {
    const budget = createByteBudget(1_200 * KIB);
    await suite.serve({ budget });
    const connection = await openRequest(250 * KIB, 'a'.repeat(60 * KIB));
    await until(() => budget.used() > 0);
    const free = reserveForOthers(budget, 700 * KIB);
    connection.send('a'.repeat(150 * KIB));
    expect((await connection.answer()).json().error.code).to.equal('concurrency_limit');
    // The client receives the response while it is still sending.
    expect(budget.used()).to.equal(700 * KIB);
    free();
  });

  it('responds payload_too_large to a body larger than any share', async () => {
    await suite.serve({ budget: createByteBudget(400 * KIB) });
    const answer = await (await openRequest(100 * KIB + 1, '')).answer();
    expect(answer.json().error).to.include({ code: 'payload_too_large' });
    expect(answer.json().error.message).to.contain(String(100 * KIB));
  });
});

describe('slow request bodies', () => {
  const suite = httpSuite();

  /** Sends `bytes` bytes every 10 ms. */
  async function sendSlowly(bytes: number, declared: number) {
    const { text } = await suite.fixture.account('free');
    await suite.serve({
      body: { maxBytes: 1e6, ...TIMES, slow: { graceMs: 200, bytesPerS: 2_000 } },
    });
    const connection = await suite.http.open();
    connection.send(renderHead(text, declared));
    let left = declared - GOOD.length;
    const timer = setInterval(() => {
      const now = Math.min(bytes, left);
      left -= now;
      connection.send(' '.repeat(now));
      if (left > 0) return;
      clearInterval(timer);
      connection.send(GOOD);
    }, 10);
    return connection.answer().finally(() => clearInterval(timer));
  }

  it('rejects a body below the minimum rate after the grace period', async () => {
    const answer = await sendSlowly(1, 1_000);
    expect(answer.status).to.equal(400);
    expect(answer.json().error.message).to.contain('slower than 2000 bytes per second after 0.2 s');
  });

  it('accepts a body at or above the minimum rate', async () => {
    expect((await sendSlowly(60, 6_000)).status).to.equal(200);
  });

  it('requires 2 KiB/s after a grace period of 5 s', () => {
    expect(BODY_TIMES.slow).to.deep.equal({ graceMs: 5_000, bytesPerS: 2_048 });
  });
});
