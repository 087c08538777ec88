// Pages and filters of the render log, on entries that the test inserts; their retention; and that
// they contain no secrets.
import { expect } from 'chai';
import { pino } from 'pino';
import type { RenderSummary } from '../../../api/console/contract/accounts.ts';
import { createRetention } from '../../../api/history/retention.ts';
import type { RenderDocument } from '../../../api/store/store.ts';
import {
  type ConsoleFixture,
  consoleFixture,
  type TestUser,
} from '../../support/console/console-fixture.ts';
import { eventually } from '../../support/eventually.ts';

interface Page {
  items: RenderSummary[];
  next: string | null;
}

describe('pages of the render log', () => {
  let fixture: ConsoleFixture;
  let person: TestUser;
  const lines: string[] = [];
  const log = pino({ level: 'debug' }, { write: (line: string) => void lines.push(line) });
  before(async () => {
    fixture = await consoleFixture({
      workers: 0,
      log,
      env: { PRESSROOM_RENDER_LOG_KEEP: '48h', PRESSROOM_QUEUE_TIMEOUT_NO_WORKER: '100ms' },
    });
    person = await fixture.createUser({ role: 'viewer' });
  });
  after(() => fixture?.stop());

  async function filled(documents: Partial<RenderDocument>[]) {
    const account = await fixture.account2();
    const who = await fixture.createUser({ role: 'viewer', account });
    const base = {
      account,
      via: 'api',
      outcome: 'ok',
      sandbox: false,
      counted: true,
      options: {},
      timings: {},
      totalMs: 1,
    } as const;
    const at = new Date();
    await fixture.store.console.renders.insertMany(
      documents.map(
        (each, index) => ({ _id: `${account}-${index}`, at, ...base, ...each }) as RenderDocument,
      ),
    );
    const page = (query: string) => who.good<Page>('GET', `/accounts/${account}/renders?${query}`);
    const ids = async (query: string) =>
      (await page(query)).items.map(({ id }) => Number(id.split('-')[1]));
    return { account, page, ids, who };
  }

  it('contain each of many renders of one millisecond exactly once', async () => {
    const one = new Date('2026-11-22T10:00:00.000Z');
    const other = new Date('2026-11-22T10:00:00.001Z');
    const { page } = await filled(
      Array.from({ length: 40 }, (_, index) => ({ at: index % 5 === 0 ? other : one })),
    );
    const seen: string[] = [];
    let pages = 0;
    for (let cursor: string | null = ''; cursor !== null; pages++) {
      const { items, next }: Page = await page(`limit=7${cursor && `&cursor=${cursor}`}`);
      seen.push(...items.map(({ id }) => id));
      cursor = next;
    }
    expect(pages).to.equal(6);
    expect(new Set(seen).size).to.equal(40);
    expect(seen).to.have.length(40);
  });

  it('can be filtered by outcome, code, key and time', async () => {
    const minute = (index: number) => new Date(Date.UTC(2026, 10, 22, 10, index));
    const { ids } = await filled([
      { at: minute(0), key: 'a' },
      { at: minute(1), outcome: 'error', code: 'render_failed', reason: 'page_status', key: 'a' },
      { at: minute(2), outcome: 'error', code: 'validation_error', key: 'b' },
      { at: minute(3), outcome: 'client_closed' },
    ]);
    expect(await ids('')).to.deep.equal([3, 2, 1, 0]);
    expect(await ids('status=error')).to.deep.equal([2, 1]);
    expect(await ids('status=ok')).to.deep.equal([0]);
    expect(await ids('status=client_closed')).to.deep.equal([3]);
    expect(await ids('code=render_failed')).to.deep.equal([1]);
    expect(await ids('key=a')).to.deep.equal([1, 0]);
    expect(await ids('key=a&status=error')).to.deep.equal([1]);
    expect(await ids('key=none')).to.deep.equal([3]);
    expect(await ids('from=2026-11-22T10:01:00Z&to=2026-11-22T10:03:00Z')).to.deep.equal([2, 1]);
    expect(await ids('code=$ne&status=error')).to.deep.equal([]);
  });

  it('show the id of a revoked key', async () => {
    const { page, who, account } = await filled([{ key: 'gone' }]);
    expect((await page('')).items[0]!.key).to.deep.equal({ id: 'gone', name: null, last4: null });
    expect(
      (
        await who.good<{ id: string; key: object }>(
          'GET',
          `/accounts/${account}/renders/${account}-0`,
        )
      ).key,
    ).to.deep.equal({
      id: 'gone',
      name: null,
      last4: null,
    });
  });

  it('reject an invalid cursor and other invalid parameters', async () => {
    for (const query of [
      'cursor=x',
      `cursor=${Buffer.from('1.{}').toString('base64url')}`,
      'limit=0',
      'limit=1e9',
      'status=maybe',
      'from=yesterday',
      'key[$ne]=a&status[$ne]=a',
    ]) {
      const answer = await person.call('GET', `/accounts/${fixture.accountId}/renders?${query}`);
      expect([query, answer.status]).to.deep.equal([query, 400]);
    }
  });

  it('contain no secrets, whatever the request and its outcome', async () => {
    const S = 's3cr3tw0rd';
    const secrets = {
      cookies: [{ name: S, value: S, domain: 'example.com' }],
      extra_http_headers: { 'X-Secret': S },
      css: `/* ${S} */`,
      javascript: `"${S}"`,
      header: { html: S },
      footer: { html: S },
      wait_for_selector: `#${S}`,
      wait_for_expression: `"${S}"`,
      metadata: { title: S, author: S, subject: S, keywords: S },
    };
    const bodies: unknown[] = [
      { html: S, ...secrets },
      {
        url: `https://example.com/x?key=${S}#${S}`,
        auth: { username: S, password: S },
        ...secrets,
      },
      { html: S, [S]: 1 },
      { html: S, format: S, pages: S, wait_delay: S, emulate_media: S, landscape: S, scale: S },
      { html: S, margin: { top: S }, header: { html: S, height: S } },
      { html: S, extra_http_headers: { 'X-A': `${S}\u0001`, [`bad ${S}`]: 'x' } },
      { html: S, cookies: [{ name: 'a;b', value: `"${S}`, domain: S, path: S, same_site: S }] },
      { url: `https://user:${S}@example.com/` },
      { url: `ftp://example.com/${S}` },
      { html: S, css: `https://user:${S}@example.com/` },
      { html: S, auth: { username: S, password: S } },
      `{"html": "${S}"`,
      `{"html": ${S}}`,
      `"${S}"`,
    ];
    // At most ten rejections per second are kept for each account.
    const other = (await fixture.store.accounts.findOne({ _id: await fixture.account2() }))!;
    const { text } = await fixture.accounts.createKey(other.name, { name: 'other' });
    for (const [index, body] of bodies.entries())
      await fixture.call(
        'POST',
        '/v1/render',
        {
          authorization: `Bearer ${index % 2 ? text : fixture.key}`,
          'content-type': 'application/json',
        },
        typeof body === 'string' ? body : JSON.stringify(body),
      );
    const documents = await eventually(async () => {
      const found = await fixture.store.console.renders
        .find({ account: { $in: [fixture.accountId, other._id] } })
        .toArray();
      expect(found.length).to.equal(bodies.length);
      return found;
    });
    // The name of an unknown field is not a value: the message must contain it.
    const values = documents.filter(
      ({ message = '' }) => !message.includes(`\`${S}\``) && !message.includes(`bad ${S}`),
    );
    expect(values.length).to.be.at.least(bodies.length - 2);
    expect(values.filter(document => JSON.stringify(document).includes(S))).to.deep.equal([]);
    expect(lines.filter(line => line.includes(S))).to.deep.equal([]);
  });

  it('are kept for the configured time', async () => {
    const indexes = await fixture.store.console.renders.indexes();
    expect(indexes.find(({ name }) => name === 'retention')?.expireAfterSeconds).to.equal(
      48 * 3_600,
    );
    await createRetention(fixture.store, 3_600_000, log).start();
    const after = await fixture.store.console.renders.indexes();
    expect(after.find(({ name }) => name === 'retention')?.expireAfterSeconds).to.equal(3_600);
  });

  it('keep the previous time, with a log message, when the database rejects the change', async () => {
    const keepRenders = () =>
      Promise.reject(new Error('not authorized on pressroom to execute command'));
    await createRetention({ ...fixture.store, keepRenders }, 3_600_000, log).start();
    expect(lines.at(-1))
      .to.include('could not change the retention of the render log')
      .and.include('not authorized');
  });
});
