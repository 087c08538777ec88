// @proves GET /v1/account, GET /v1/usage, key-scopes, test-keys

import { expect } from 'chai';
import type { CreatedKey, NewKey } from '../../../api/accounts/account-keys.ts';
import { accountSchema, usageSchema } from '../../../common/contract/account.ts';
import { type ConsoleFixture, consoleFixture } from '../../support/console/console-fixture.ts';
import { eventually } from '../../support/eventually.ts';
import type { Answer } from '../../support/http-call.ts';
import { html, installation } from '../../support/installation.ts';
import { isBlank } from '../../support/pdf.ts';

const TODAY = new Date().toISOString().slice(0, 10);
const NO_SCOPE = (scope: string) =>
  `The API key does not have the scope \`${scope}\`. Use a key with this scope, or create one in the dashboard.`;

describe('the routes for reading an account', function () {
  this.timeout(60_000);
  let fixture: ConsoleFixture;
  before(async () => {
    fixture = await consoleFixture({ plan: 'starter' });
  });
  after(() => fixture?.stop());

  const json = ({ body }: Answer): unknown => JSON.parse(body.toString());
  const get = (path: string, key = fixture.key) =>
    fixture.call('GET', path, { authorization: `Bearer ${key}` });
  const create = (settings: Partial<NewKey>): Promise<CreatedKey> =>
    fixture.accounts.createKey(fixture.account, { name: 'other', ...settings });
  const render = (body: unknown, { text }: CreatedKey) =>
    fixture.render(body, { authorization: `Bearer ${text}` });
  const account = async () => accountSchema.strict().parse(json(await get('/v1/account')));

  it('return plan, limit, state, usage and the renders that run now', async () => {
    expect(await account()).to.deep.equal({
      id: fixture.accountId,
      name: fixture.account,
      plan: 'starter',
      state: 'active',
      concurrency_limit: 2,
      running: 0,
      usage: { period: TODAY.slice(0, 7), count: 0 },
    });
    const running = fixture.render({ html: html('x'), wait_delay: '2s' });
    await eventually(async () => expect((await account()).running).to.equal(1));
    expect((await running).headers['x-usage-count']).to.equal('1');
    expect(await account()).to.deep.include({
      running: 0,
      usage: { period: TODAY.slice(0, 7), count: 1 },
    });
  });

  it('are not stored by caches and are not renders', async () => {
    const answer = await get('/v1/account');
    expect(answer.headers).to.include({ 'cache-control': 'no-store' });
    expect(answer.headers).to.have.property('x-request-id');
    const before = await fixture.usage();
    await get('/v1/usage');
    expect(await fixture.usage()).to.equal(before);
    expect(await fixture.store.console.renders.countDocuments({ options: {} })).to.be.at.most(1);
  });

  it('return the usage of all days of a range, and of each key', async () => {
    const test = await create({ name: 'ci', test: true });
    const counted = (await account()).usage.count;
    expect((await render({ html: html('x') }, test)).status).to.equal(200);
    await eventually(async () => {
      const byDay = usageSchema.strict().parse(json(await get(`/v1/usage?from=${TODAY}`)));
      expect(byDay).to.include({ from: TODAY, to: TODAY });
      expect(byDay.total).to.include({ counted, sandbox: 1, failed: 0, rejected: 0 });
      expect(byDay.items).to.deep.equal([{ day: TODAY, ...byDay.total }]);
      const byKey = usageSchema.parse(json(await get('/v1/usage?group_by=key')));
      expect(
        byKey.items.map(({ key, counted, sandbox }) => [key?.name, counted, sandbox]),
      ).to.have.deep.members([
        ['test', counted, 0],
        ['ci', 0, 1],
      ]);
    }, 10_000);
    const { items } = usageSchema.parse(json(await get('/v1/usage')));
    expect(items).to.have.length(30);
    expect(items.at(-1)!.day).to.equal(TODAY);
  });

  const wrong: [string, string][] = [
    ['from=yesterday', '`from` must be a day in UTC such as 2026-11-30.'],
    ['to=2026-02-30', '`to` must be a day in UTC such as 2026-11-30.'],
    ['from=2026-11-01&from=2026-11-02', '`from` must be a day in UTC such as 2026-11-30.'],
    ['from=2026-11-02&to=2026-11-01', '`from` must not be after `to`.'],
    ['from=2024-01-01&to=2026-01-01', 'The range from `from` to `to` must be at most 366 days.'],
    ['to=0000-01-01', '`from` and `to` must not be before 1970-01-31.'],
    ['group_by=month', '`group_by` must be day or key.'],
    ['groupBy=day', '`groupBy` is not a valid parameter.'],
  ];
  for (const [query, message] of wrong)
    it(`name the parameter of ?${query}`, async () => {
      const answer = await get(`/v1/usage?${query}`);
      expect(answer.status).to.equal(400);
      expect(answer.error()).to.include({ code: 'validation_error', message });
    });

  it('accept no parameters at /v1/account', async () => {
    expect((await get('/v1/account?plan=1')).error().message).to.equal(
      '`plan` is not a valid parameter.',
    );
  });

  it('need a key with the scope `read`, which a key without `render` may have', async () => {
    const [only, none] = [await create({ scopes: ['read'] }), await create({ scopes: ['render'] })];
    expect((await get('/v1/account', only.text)).status).to.equal(200);
    for (const path of ['/v1/account', '/v1/usage']) {
      const answer = await get(path, none.text);
      expect(answer.status).to.equal(401);
      expect(answer.headers).to.include({ 'www-authenticate': 'Bearer' });
      expect(answer.error()).to.include({ code: 'unauthorized', message: NO_SCOPE('read') });
    }
    const rejected = await render({ html: html('x') }, only);
    expect(rejected.status).to.equal(401);
    expect(rejected.error()).to.include({ code: 'unauthorized', message: NO_SCOPE('render') });
    const missing = await fixture.call('GET', '/v1/account', {});
    expect(missing.status).to.equal(401);
    expect(missing.error().message).to.include('The `Authorization` header is missing.');
  });

  it('reject a read-only key from the moment it is revoked', async () => {
    const { text, key } = await create({ scopes: ['read'] });
    expect((await get('/v1/usage', text)).status).to.equal(200);
    await fixture.accounts.revokeKey(fixture.account, key.id);
    expect((await get('/v1/usage', text)).status).to.equal(401);
  });

  it('render with a watermark for a test key whatever the request says, and count nothing', async () => {
    const key = await create({ test: true });
    const before = await fixture.usage();
    for (const sandbox of [undefined, false, true]) {
      const answer = await render({ html: html(''), sandbox }, key);
      expect(answer.status).to.equal(200);
      expect(answer.headers).to.include({ 'x-sandbox': 'true' });
      expect(answer.headers).not.to.have.property('x-usage-count');
      expect(await isBlank(answer.body), 'has a watermark').to.equal(false);
    }
    expect(await fixture.usage()).to.equal(before);
    const records = await eventually(async () => {
      const found = await fixture.store.console.renders.find({ key: key.key.id }).toArray();
      expect(found).to.have.length(3);
      return found;
    }, 10_000);
    for (const record of records) expect(record).to.include({ sandbox: true, counted: false });
  });

  it('leave out the usage without the dashboard, which records it', async () => {
    const plain = await installation({ workers: 0 });
    try {
      const headers = { authorization: `Bearer ${plain.key}` };
      expect((await plain.call('GET', '/v1/account', headers)).status).to.equal(200);
      expect((await plain.call('GET', '/v1/usage', headers)).status).to.equal(404);
      const { paths } = json(await plain.call('GET', '/openapi.json', {})) as { paths: object };
      expect(Object.keys(paths)).to.include('/v1/account').and.not.include('/v1/usage');
    } finally {
      await plain.stop();
    }
  });
});
