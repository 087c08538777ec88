import { expect } from 'chai';
import { BODY_TIMES } from '../../../api/http/body.ts';
import { createByteBudget } from '../../../api/http/byte-budget.ts';
import {
  type HttpFixture,
  type HttpRigOptions,
  httpFixture,
  renderHead,
} from '../../support/http-fixture.ts';
import {
  type LeaseFixture,
  leaseFixture,
  type TestAccount,
  until,
} from '../../support/lease-fixture.ts';
import { reserveForOthers } from '../../support/reserved-budget.ts';

const KIB = 1_024;
const GOOD = JSON.stringify({ html: '<p>Hello</p>' });
const TIMES = { silentMs: 10_000, totalMs: 60_000 };

describe('the share of an account in the bytes that one process holds', () => {
  let fixture: LeaseFixture;
  let http: HttpFixture;
  let account: TestAccount;
  before(async () => {
    fixture = await leaseFixture();
  });
  beforeEach(async () => {
    account = await fixture.account('scale');
  });
  afterEach(async () => {
    await http?.close();
    await fixture.reset();
  });
  after(() => fixture?.close());

  const serve = async (options: HttpRigOptions) => {
    http = await httpFixture(fixture, options);
  };
  /** A connection on which a call has begun: its head, and this of its body. */
  async function begun(declared: number, sent: string, key = account.text) {
    const connection = await http.open();
    connection.send(`${renderHead(key, declared)}${sent}`);
    return connection;
  }

  it('is not used by what a caller declares, only by what has arrived', async () => {
    const budget = createByteBudget(3_000 * KIB);
    await serve({ budget });
    await begun(700 * KIB, 'a'.repeat(10 * KIB));
    await until(() => budget.used() > 0);
    expect(budget.used()).to.be.within(30 * KIB, 60 * KIB);
  });

  it('is all that a body takes once it has arrived', async () => {
    const budget = createByteBudget(3_000 * KIB);
    await serve({ budget });
    let during = 0;
    http.state.during = async () => {
      during = budget.used();
    };
    const connection = await begun(GOOD.length, GOOD.slice(0, 5));
    connection.send(GOOD.slice(5));
    expect((await connection.answer()).status).to.equal(200);
    expect(during).to.equal(3 * GOOD.length);
  });

  it('leaves a quarter of the whole to other accounts, and the account is refused as over its limit', async () => {
    const budget = createByteBudget(1_200 * KIB);
    await serve({ budget });
    // Each takes a quarter.
    for (let call = 1; call <= 3; call++) {
      await begun(100 * KIB, 'a'.repeat(100 * KIB - 1));
      await until(() => budget.used() >= call * 300 * KIB);
    }
    const fourth = await begun(GOOD.length, GOOD);
    const answer = await fourth.answer();
    expect(answer.status).to.equal(429);
    expect(answer.json().error.code).to.equal('concurrency_limit');
    expect(answer.headers).to.include({ 'retry-after': '2', 'x-concurrency-limit': '8' });
    // Not a failure of the service's.
    expect(http.refused).to.deep.equal([]);

    const other = await fixture.account('free');
    expect((await (await begun(GOOD.length, GOOD, other.text)).answer()).status).to.equal(200);
  });

  it('refuses a body in the middle when others have taken the rest meanwhile, and holds nothing of it', async () => {
    const budget = createByteBudget(1_200 * KIB);
    await serve({ budget });
    const connection = await begun(250 * KIB, 'a'.repeat(60 * KIB));
    await until(() => budget.used() > 0);
    const free = reserveForOthers(budget, 700 * KIB);
    connection.send('a'.repeat(150 * KIB));
    expect((await connection.answer()).json().error.code).to.equal('concurrency_limit');
    // The caller is still sending, and reads its answer first.
    expect(budget.used()).to.equal(700 * KIB);
    free();
  });

  it('makes a body too large that could never fit', async () => {
    await serve({ budget: createByteBudget(400 * KIB) });
    const answer = await (await begun(100 * KIB + 1, '')).answer();
    expect(answer.json().error).to.include({ code: 'payload_too_large' });
    expect(answer.json().error.message).to.contain(String(100 * KIB));
  });
});

describe('a body that comes too slowly', () => {
  let fixture: LeaseFixture;
  let http: HttpFixture;
  before(async () => {
    fixture = await leaseFixture();
  });
  afterEach(async () => {
    await http?.close();
    await fixture.reset();
  });
  after(() => fixture?.close());

  /** Drips so many bytes every 10 ms. */
  async function dripping(bytes: number, declared: number) {
    const { text } = await fixture.account('free');
    http = await httpFixture(fixture, {
      body: { maxBytes: 1e6, ...TIMES, slow: { graceMs: 200, bytesPerS: 2_000 } },
    });
    const connection = await http.open();
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

  it('is given up after its first seconds, though it is never silent', async () => {
    const answer = await dripping(1, 1_000);
    expect(answer.status).to.equal(400);
    expect(answer.json().error.message).to.contain('after 0.2 s it must bring 2000 bytes a second');
  });

  it('is read to its end while it brings enough', async () => {
    expect((await dripping(60, 6_000)).status).to.equal(200);
  });

  it('must bring 2 KiB a second after 5 s', () => {
    expect(BODY_TIMES.slow).to.deep.equal({ graceMs: 5_000, bytesPerS: 2_048 });
  });
});
