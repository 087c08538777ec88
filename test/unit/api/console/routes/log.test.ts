// The pure parts of the render log: redacted requests and messages, the histogram of durations, CSV,
// and the limits.
import { expect } from 'chai';
import { csv } from '../../../../../api/console/reports/csv.ts';
import { lastMinutes } from '../../../../../api/console/routes/operator-live.ts';
import { redactedMessage } from '../../../../../api/history/redacted-message.ts';
import { redactedRequest } from '../../../../../api/history/redacted-request.ts';
import {
  addedUp,
  bucketOf,
  percentileMs,
  USAGE_BUCKETS_MS,
} from '../../../../../api/history/usage-buckets.ts';
import { rangeOf, UsageSums } from '../../../../../api/history/usage-days.ts';
import { addTo, MAX_DAYS, newTally } from '../../../../../api/history/usage-tally.ts';
import type { RenderDocument } from '../../../../../api/store/store.ts';
import type { RenderRequest } from '../../../../../common/contract/render-request.ts';

const render = (fields: Partial<RenderDocument> = {}): RenderDocument => ({
  _id: 'r',
  account: 'a',
  at: new Date('2026-11-22T10:00:30Z'),
  via: 'api',
  outcome: 'ok',
  sandbox: false,
  counted: true,
  options: {},
  timings: {},
  totalMs: 100,
  ...fields,
});

describe('the redacted request', () => {
  const SECRET = 's3cret';
  const everything: RenderRequest = {
    html: `<p>${SECRET}`,
    url: `https://example.com:8443/path?${SECRET}=1#${SECRET}`,
    header: { html: SECRET, height: '20mm' },
    footer: { html: SECRET },
    margin: { top: '1cm', left: '2cm' },
    cookies: [{ name: SECRET, value: SECRET, domain: SECRET }],
    extra_http_headers: { [SECRET]: SECRET },
    auth: { username: SECRET, password: SECRET },
    css: SECRET,
    javascript: `https://example.com/${SECRET}`,
    wait_for_selector: SECRET,
    wait_for_expression: SECRET,
    metadata: { title: SECRET, author: SECRET },
    scale: 0.5,
    landscape: true,
    wait_delay: '1s',
    emulate_media: 'screen',
  };

  it('contains harmless values, and the size or count of all others', () => {
    const { options, url, source } = redactedRequest(everything);
    expect({ url, source }).to.deep.equal({ url: 'https://example.com:8443/path', source: 'url' });
    expect(options).to.deep.equal({
      html: '9 characters',
      header: '6 characters, height 20mm',
      footer: '6 characters',
      margin: 'top 1cm, left 2cm',
      cookies: 1,
      extra_http_headers: 1,
      auth: true,
      css: 'inline, 6 characters',
      javascript: 'from example.com',
      wait_for_selector: '6 characters',
      wait_for_expression: '6 characters',
      metadata: 'title, author',
      scale: 0.5,
      landscape: true,
      wait_delay: '1s',
      emulate_media: 'screen',
    });
  });

  it('contains no secret', () => {
    expect(JSON.stringify(redactedRequest(everything))).to.not.include(SECRET);
  });

  it('truncates long URLs', () => {
    expect(redactedRequest({ url: `https://example.com/${'a'.repeat(8_000)}` }).url).to.have.length(
      2_048,
    );
  });
});

describe('the redacted error message', () => {
  it('keeps the names and drops the values', () => {
    expect(redactedMessage('`format` must be a size, not "s3cret". `a.b` is missing.')).to.equal(
      '`format` must be a size, not "…". `a.b` is missing.',
    );
  });

  it('drops values with quotes and backticks in names and values', () => {
    expect(redactedMessage('`a"b` must be x, not "s3cret".')).to.equal('`a…');
    expect(redactedMessage('`a` must be of ^_`|~, not "x". `b` must be x, not "s3cret".')).to.equal(
      '`a` must be of ^_`|~, not …',
    );
    expect(
      redactedMessage('`a` must be x, not "`s3cret\\" `s3cret". `b` too, not "s3cret"'),
    ).to.not.include('s3cret');
    expect(redactedMessage('`a` must be x, not "s3cret')).to.not.include('s3cret');
  });

  it('ends before the error of Chrome about an expression', () => {
    expect(
      redactedMessage(
        "`wait_for_expression` is not valid JavaScript: SyntaxError: Unexpected identifier 's3cret'.",
      ),
    ).to.equal('`wait_for_expression` is not valid JavaScript.');
  });

  it('is limited in length', () => {
    expect(redactedMessage('x'.repeat(10_000))).to.have.length(500);
  });
});

describe('the histogram of durations', () => {
  it('has percentiles accurate to 10 %', () => {
    const durations = Array.from({ length: 2_000 }, (_, index) => 12 * 1.005 ** index);
    const counts: Record<string, number> = {};
    for (const ms of durations) counts[bucketOf(ms)] = (counts[bucketOf(ms)] ?? 0) + 1;
    for (const share of [0.01, 0.25, 0.5, 0.95, 0.99]) {
      const exact = durations[Math.ceil(share * durations.length) - 1]!;
      expect(percentileMs(counts, share)! / exact, `${share}`).to.be.within(0.9, 1.1);
    }
  });

  it('contains durations outside its buckets', () => {
    expect(bucketOf(0)).to.equal(0);
    expect(bucketOf(1e9)).to.equal(USAGE_BUCKETS_MS.length - 1);
    expect(bucketOf(USAGE_BUCKETS_MS[7]!)).to.equal(7);
  });

  it('covers the longest possible render', () => {
    expect(USAGE_BUCKETS_MS.at(-1)).to.be.greaterThan(120_000 + 60_000 + 30_000);
  });

  it('has no percentiles of fewer than 20 durations', () => {
    expect(percentileMs({}, 0.5)).to.equal(null);
    expect(percentileMs({ 3: 10, 4: 9 }, 0.5)).to.equal(null);
    expect(percentileMs({ 3: 10, 4: 10 }, 0.5)).to.be.a('number');
  });

  it('can be added to others', () => {
    expect(addedUp([{ 1: 2, 3: 1 }, { 3: 4 }])).to.deep.equal({ 1: 2, 3: 5 });
  });
});

describe('a tally', () => {
  it('adds up by account, day and key, and by minute for all', () => {
    const tally = newTally();
    addTo(tally, render({ pages: 2, bytes: 10 }));
    addTo(tally, render({ pages: 1, bytes: 5, sandbox: true }));
    addTo(tally, render({ outcome: 'error', code: 'render_failed' }));
    addTo(tally, render({ outcome: 'error', code: 'validation_error' }));
    addTo(tally, render({ outcome: 'error', code: 'concurrency_limit' }));
    addTo(tally, render({ outcome: 'client_closed' }));
    addTo(tally, render({ key: 'k' }));
    addTo(tally, render({ at: new Date('2026-11-23T00:00:00Z') }));
    expect([...tally.days.keys()]).to.deep.equal([
      'a 2026-11-22 ',
      'a 2026-11-22 k',
      'a 2026-11-23 ',
    ]);
    expect(tally.days.get('a 2026-11-22 ')).to.deep.include({
      ok: 1,
      sandbox: 1,
      failed: 1,
      rejected: 2,
      pages: 3,
      bytes: 15,
      durations: { [bucketOf(100)]: 2 },
    });
    expect([...tally.minutes.values()]).to.deep.equal([
      { ok: 3, failed: 1, rejected: 2 },
      { ok: 1, failed: 0, rejected: 0 },
    ]);
  });

  it('has a limit on accounts and keys, and keeps counting the known ones', () => {
    const tally = newTally();
    for (let i = 0; i < MAX_DAYS; i++)
      expect(addTo(tally, render({ key: String(i) }))).to.equal(true);
    expect(addTo(tally, render({ key: 'one more' }))).to.equal(false);
    expect(addTo(tally, render({ key: '7' }))).to.equal(true);
    expect(tally.days.size).to.equal(MAX_DAYS);
  });
});

describe('a table as CSV', () => {
  it('quotes where needed', () => {
    expect(csv([['a', 'b, "c"', 1.5, null], ['d\ne']])).to.equal('a,"b, ""c""",1.5,\r\n"d\ne"\r\n');
  });

  for (const start of ['=', '+', '-', '@', '\t', '\r', '＝'])
    it(`contains no formula that begins with ${JSON.stringify(start)}`, () => {
      expect(csv([[`${start}cmd()`]])).to.match(/^"?'/);
    });

  it('contains no formula for spreadsheets that split at semicolons', () => {
    expect(csv([['a;=cmd()', 'b; +1', 'c\t@x', 'd;e', 'f=1']])).to.equal(
      "a;'=cmd(),b;' +1,c\t'@x,d;e,f=1\r\n",
    );
  });
});

describe('the range of the usage', () => {
  const now = Date.parse('2026-11-22T15:00:00Z');

  it('is the last 30 days by default', () => {
    expect(rangeOf({}, now)).to.deep.equal({ from: '2026-10-24', to: '2026-11-22' });
  });

  it('is at most 366 days, and ends after its start', () => {
    expect(rangeOf({ from: '2025-11-22', to: '2026-11-22' }, now).from).to.equal('2025-11-22');
    expect(() => rangeOf({ from: '2025-11-21', to: '2026-11-22' }, now)).to.throw('366');
    expect(() => rangeOf({ from: '2026-11-23' }, now)).to.throw('`from`');
  });

  it('contains every day, also without renders', () => {
    const range = { from: '2026-02-27', to: '2026-03-02' };
    const { days } = new UsageSums(range).figures();
    expect(days.map(({ day }) => day)).to.deep.equal([
      '2026-02-27',
      '2026-02-28',
      '2026-03-01',
      '2026-03-02',
    ]);
    expect(days[0]).to.include({ ok: 0, p50Ms: null });
  });
});

describe('the last minutes', () => {
  it('are thirty, the current one last, also without renders', () => {
    const minutes = lastMinutes(
      [{ _id: new Date('2026-11-22T09:59:00Z'), ok: 2, failed: 1, rejected: 3 }],
      Date.parse('2026-11-22T10:00:30Z'),
    );
    expect(minutes).to.have.length(30);
    expect(minutes.at(-1)).to.deep.equal({
      at: '2026-11-22T10:00:00.000Z',
      ok: 0,
      failed: 0,
      rejected: 0,
    });
    expect(minutes.at(-2)).to.deep.equal({
      at: '2026-11-22T09:59:00.000Z',
      ok: 2,
      failed: 1,
      rejected: 3,
    });
  });
});
