import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import {
  type ConsoleFixture,
  consoleFixture,
  type TestUser,
} from '../../support/console/console-fixture.ts';

interface Key {
  id: string;
  name: string;
  prefix: string;
  last4: string;
  createdAt: string;
  expiresAt: string | null;
  expired: boolean;
  allowedIps: string[];
  scopes: string[];
  test: boolean;
  lastUsedAt: string | null;
  replacedBy: string | null;
}
type Created = { key: Key; text: string };

const DAY_MS = 86_400e3;
const at = (text: string | null) => new Date(text!).getTime();

describe('API keys in the management API', () => {
  let fixture: ConsoleFixture;
  let developer: TestUser;
  /** An account without a key. */
  let account: string;
  before(async () => {
    fixture = await consoleFixture({ workers: 0 });
  });
  after(() => fixture.stop());
  beforeEach(async () => {
    account = await fixture.account2();
    developer = await fixture.createUser({ role: 'developer', account });
  });

  const path = (rest = '') => `/accounts/${account}/keys${rest}`;
  const create = (body: object = {}) =>
    developer.good<Created>('POST', path(), { name: 'press', ...body });
  const list = async () => (await developer.good<{ items: Key[] }>('GET', path())).items;
  const rejection = async (method: string, rest: string, body?: unknown) => {
    const answer = await developer.call(method, path(rest), body);
    return { status: answer.status, ...answer.error() };
  };
  const stored = async () => (await fixture.store.accounts.findOne({ _id: account }))!.keys;
  /**
   * Whether an API call gets past the check of a key that was not used before: there is no worker,
   * so a body that is wrong tells.
   */
  const works = async (text: string) =>
    (await fixture.render({}, { authorization: `Bearer ${text}` })).status === 400;

  it('are created with name, expiry and networks, and listed without their text', async () => {
    const expiresAt = new Date(Date.now() + 30 * DAY_MS).toISOString();
    const made = await create({ expiresAt, allowedIps: ['127.0.0.1', '2001:db8::1/32'] });
    expect(made.text).to.match(/^pressroom_live_[0-9A-Za-z]{38}$/);
    expect(made.key).to.include({
      name: 'press',
      expiresAt,
      expired: false,
      test: false,
      lastUsedAt: null,
      replacedBy: null,
    });
    expect(made.key.scopes).to.deep.equal(['render', 'read']);
    expect(made.key.allowedIps).to.deep.equal(['127.0.0.1/32', '2001:db8::/32']);
    expect(made.text.startsWith(made.key.prefix) && made.text.endsWith(made.key.last4)).to.equal(
      true,
    );
    expect(made.key.prefix).to.equal(`pressroom_live_${account}`);
    const answer = await developer.call('GET', path());
    expect((answer.json() as { items: Key[] }).items).to.deep.equal([made.key]);
    expect(answer.body.toString())
      .to.not.include(made.text.slice(25, 45))
      .and.to.not.include('hash');
    expect(await works(made.text)).to.equal(true);
  });

  it('are created with scopes, as test keys, and recorded so in the audit log', async () => {
    const read = await create({ name: 'dashboards', scopes: ['read'] });
    const test = await create({ name: 'ci', test: true, scopes: ['render'] });
    expect(read.text).to.match(/^pressroom_live_/);
    expect(test.text).to.match(/^pressroom_test_/);
    expect(test.key.prefix).to.equal(`pressroom_test_${account}`);
    expect((await list()).map(({ name, scopes, test }) => ({ name, scopes, test }))).to.deep.equal([
      { name: 'ci', scopes: ['render'], test: true },
      { name: 'dashboards', scopes: ['read'], test: false },
    ]);
    expect(await works(test.text)).to.equal(true);
    const noScope = await fixture.render({}, { authorization: `Bearer ${read.text}` });
    expect(noScope.status).to.equal(401);
    expect(noScope.error().message).to.include('does not have the scope `render`');
    const entries = await fixture.store.console.audit.find({ account }).sort({ at: 1 }).toArray();
    expect(entries.map(({ details }) => [details!['scopes'], details!['test']])).to.deep.equal([
      ['read', false],
      ['render', true],
    ]);
    await developer.good('DELETE', path(`/${test.key.id}`));
    const revoked = await fixture.render({ html: 'x' }, { authorization: `Bearer ${test.text}` });
    expect(revoked.status).to.equal(401);
  });

  it('are listed newest first', async () => {
    for (const name of ['one', 'two', 'three']) await create({ name });
    expect((await list()).map(({ name }) => name)).to.deep.equal(['three', 'two', 'one']);
  });

  it('include when they were last used', async () => {
    const [used, unused] = [await create(), await create()];
    const of = (day: string) => ({
      _id: { account, day, key: used.key.id },
      ok: 1,
      sandbox: 0,
      failed: 0,
      bytes: 1,
      pages: 1,
      durations: {},
      flushes: [],
    });
    const lastAt = new Date('2026-11-02T03:04:05.678Z');
    await fixture.store.console.usageDays.insertMany([
      { ...of('2026-11-01'), lastAt: new Date('2026-11-01T00:00:00Z') },
      { ...of('2026-11-02'), lastAt },
    ]);
    const shown = new Map((await list()).map(({ id, lastUsedAt }) => [id, lastUsedAt]));
    expect(shown.get(used.key.id)).to.equal(lastAt.toISOString());
    expect(shown.get(unused.key.id)).to.equal(null);
  });

  it('are marked when they have expired', async () => {
    const { key } = await create({ expiresAt: new Date(Date.now() + DAY_MS).toISOString() });
    await fixture.store.accounts.updateOne(
      { _id: account, 'keys.id': key.id },
      { $set: { 'keys.$.expiresAt': new Date(Date.now() - 1) } },
    );
    expect((await list())[0]).to.include({ id: key.id, expired: true });
  });

  const wrong: [string, object, string][] = [
    [
      'an end in the past',
      { expiresAt: '2020-01-01T00:00:00Z' },
      '`expiresAt` must be in the future',
    ],
    [
      'an end that is no time',
      { expiresAt: 'tomorrow' },
      '`expiresAt` must be a time in UTC such as',
    ],
    [
      'a network that is none',
      { allowedIps: ['10.0.0.0/33'] },
      '`allowedIps`: `10.0.0.0/33` is not a valid IP address or CIDR range',
    ],
    [
      'too many networks',
      { allowedIps: Array(51).fill('10.0.0.1') },
      '`allowedIps` must be at most 50 networks',
    ],
    ['a blank name', { name: ' ' }, '`name` must be at least 1 character'],
    ['a name of two lines', { name: 'a\nb' }, '`name` must be text without control characters'],
    ['no name', { name: undefined }, '`name` must be a string'],
    ['an unknown scope', { scopes: ['write'] }, '`scopes.0` must be one of render, read'],
    ['no scope', { scopes: [] }, '`scopes` must be one or more of render, read'],
    ['scopes that are no list', { scopes: 'read' }, '`scopes` must be one or more of render, read'],
    ['a test that is no boolean', { test: 'yes' }, '`test` must be true or false'],
    ['a field that there is not', { hash: 'x' }, '`hash` is not a valid field'],
  ];
  for (const [what, body, message] of wrong)
    it(`reject ${what}, naming the field`, async () => {
      const rejected = await rejection('POST', '', { name: 'press', ...body });
      expect(rejected).to.include({ status: 400, code: 'validation_error' });
      expect(rejected.message).to.include(message);
      expect(await stored()).to.have.length(0);
    });

  it('are limited to 200 per account, including rotated ones', async () => {
    const { key } = await create();
    const [one] = await stored();
    const more = Array.from({ length: 199 }, (_, nth) => ({
      ...one!,
      id: `key ${nth}`,
      hash: randomUUID(),
    }));
    await fixture.store.accounts.updateOne({ _id: account }, { $push: { keys: { $each: more } } });
    expect((await rejection('POST', '', { name: 'one more' })).message).to.include(
      'already has 200 API keys',
    );
    expect((await rejection('POST', `/${key.id}/rotate`, { overlap: 'day' })).message).to.include(
      'already has 200 API keys',
    );
    expect(await stored()).to.have.length(200);
    await developer.good('POST', path(`/${key.id}/rotate`), { overlap: 'none' });
    expect(await stored()).to.have.length(200);
  });

  it('keep a name that looks like a database expression', async () => {
    const { key } = await create({ name: '$leases' });
    const rotated = await developer.good<Created>('POST', path(`/${key.id}/rotate`), {
      overlap: 'hour',
    });
    expect(rotated.key.name).to.equal('$leases');
    expect((await list()).map(({ name }) => name)).to.deep.equal(['$leases', '$leases']);
  });

  describe('when they are rotated', () => {
    const rotate = (id: string, overlap: string) =>
      developer.good<Created>('POST', path(`/${id}/rotate`), { overlap });

    it('pass name, networks and expiry to the new key, and work for the overlap', async () => {
      const former = await create({
        expiresAt: new Date(Date.now() + 90 * DAY_MS).toISOString(),
        allowedIps: ['127.0.0.0/8'],
      });
      const { key, text } = await rotate(former.key.id, 'day');
      expect(key).to.include({ name: 'press', replacedBy: null });
      expect(key.allowedIps).to.deep.equal(['127.0.0.0/8']);
      expect(at(key.expiresAt) - at(key.createdAt)).to.be.closeTo(
        at(former.key.expiresAt) - at(former.key.createdAt),
        1_000,
      );
      const old = (await list()).find(({ id }) => id === former.key.id)!;
      expect(old.replacedBy).to.equal(key.id);
      expect(at(old.expiresAt) - Date.now()).to.be.closeTo(DAY_MS, 10_000);
      expect(await works(former.text)).to.equal(true);
      expect(await works(text)).to.equal(true);
    });

    it('stop working immediately without an overlap', async () => {
      const former = await create();
      const { key, text } = await rotate(former.key.id, 'none');
      expect(key.expiresAt).to.equal(null);
      expect((await list()).map(({ id }) => id)).to.deep.equal([key.id]);
      expect(await works(former.text)).to.equal(false);
      expect(await works(text)).to.equal(true);
    });

    it('never expire later than before', async () => {
      const former = await create({ expiresAt: new Date(Date.now() + 60e3).toISOString() });
      await rotate(former.key.id, 'week');
      const old = (await list()).find(({ id }) => id === former.key.id)!;
      expect(old.expiresAt).to.equal(former.key.expiresAt);
    });

    it('cannot be rotated twice', async () => {
      const { key } = await create();
      const next = await rotate(key.id, 'day');
      expect(await rejection('POST', `/${key.id}/rotate`, { overlap: 'day' })).to.include({
        status: 409,
        code: 'conflict',
      });
      expect((await list()).map(({ id }) => id)).to.deep.equal([next.key.id, key.id]);
    });

    for (const overlap of ['none', 'hour'])
      it(`yield one new key for two concurrent rotations with overlap ${overlap}`, async () => {
        for (let round = 0; round < 5; round++) {
          const { key } = await create({ name: `round ${round}` });
          const answers = await Promise.all(
            [1, 2].map(() => developer.call('POST', path(`/${key.id}/rotate`), { overlap })),
          );
          const rejected = overlap === 'none' ? 404 : 409;
          expect(answers.map(({ status }) => status).sort()).to.deep.equal([201, rejected]);
          expect((await stored()).filter(({ name }) => name === `round ${round}`)).to.have.length(
            overlap === 'none' ? 1 : 2,
          );
        }
      });

    it('reject an unknown overlap', async () => {
      const { key } = await create();
      expect((await rejection('POST', `/${key.id}/rotate`, { overlap: 'month' })).message).to.equal(
        '`overlap` must be none, hour, day or week.',
      );
    });
  });

  it('are removed once revoked', async () => {
    const { key, text } = await create();
    expect((await developer.call('DELETE', path(`/${key.id}`))).status).to.equal(204);
    expect(await list()).to.deep.equal([]);
    expect(await works(text)).to.equal(false);
    expect(await rejection('DELETE', `/${key.id}`)).to.include({ status: 404, code: 'not_found' });
  });

  it('of another account are not found', async () => {
    const own = await create();
    const other = await fixture.account2();
    const stranger = await fixture.createUser({ role: 'owner', account: other });
    for (const [method, rest, body] of [
      ['POST', `/${own.key.id}/rotate`, { overlap: 'none' }],
      ['DELETE', `/${own.key.id}`, undefined],
    ] as const) {
      expect((await stranger.call(method, `/accounts/${other}/keys${rest}`, body)).status).to.equal(
        404,
      );
      expect((await stranger.call(method, path(rest), body)).status).to.equal(404);
    }
    expect((await stranger.call('GET', path())).status).to.equal(404);
    expect(await list()).to.deep.equal([own.key]);
  });

  it('are read-only for viewers and hidden from the billing role', async () => {
    const { key } = await create();
    const viewer = await fixture.createUser({ role: 'viewer', account });
    const payer = await fixture.createUser({ role: 'billing', account });
    expect((await viewer.good<{ items: Key[] }>('GET', path())).items).to.deep.equal([key]);
    expect((await payer.call('GET', path())).status).to.equal(403);
    for (const person of [viewer, payer]) {
      expect((await person.call('POST', path(), { name: 'x' })).status).to.equal(403);
      expect(
        (await person.call('POST', path(`/${key.id}/rotate`), { overlap: 'none' })).status,
      ).to.equal(403);
      expect((await person.call('DELETE', path(`/${key.id}`))).status).to.equal(403);
    }
    expect(await list()).to.deep.equal([key]);
  });

  it('write changes to the audit log, without text or hash', async () => {
    const made = await create();
    const rotated = await developer.good<Created>('POST', path(`/${made.key.id}/rotate`), {
      overlap: 'hour',
    });
    await developer.good('DELETE', path(`/${rotated.key.id}`));
    const entries = await fixture.store.console.audit
      .find({ account }, { sort: { at: 1 } })
      .toArray();
    expect(entries.map(({ action, target, actor }) => [action, target, actor])).to.deep.equal(
      ['key.created', 'key.rotated', 'key.revoked'].map(action => [
        action,
        'press',
        developer.email,
      ]),
    );
    expect(entries.map(({ details }) => details?.['last4'])).to.deep.equal([
      made.key.last4,
      made.key.last4,
      rotated.key.last4,
    ]);
    const kept = JSON.stringify(entries);
    for (const { text } of [made, rotated]) expect(kept).to.not.include(text.slice(25, 45));
    for (const { hash } of await stored()) expect(kept).to.not.include(hash);
  });
});
