// The usage of an account that has revoked more keys than a report lists.
import { expect } from 'chai';
import type { Usage } from '../../../api/console/contract/accounts.ts';
import { exportedUsage } from '../../../api/history/usage-days.ts';
import { MAX_USAGE_KEYS } from '../../../common/contract/account.ts';
import {
  type ConsoleFixture,
  consoleFixture,
  type TestUser,
} from '../../support/console/console-fixture.ts';

const KEYS = MAX_USAGE_KEYS + 50;
const DAYS = ['2026-03-01', '2026-03-02', '2026-03-03'];
const RANGE = { from: DAYS[0]!, to: DAYS.at(-1)! };

describe('the usage of an account with many keys', () => {
  let fixture: ConsoleFixture;
  let billing: TestUser;
  before(async () => {
    fixture = await consoleFixture({ workers: 0 });
    billing = await fixture.createUser({ role: 'billing' });
    // Key 7 has 7 renders on each day.
    const documents = DAYS.flatMap(day =>
      Array.from({ length: KEYS }, (_, key) => ({
        _id: { account: fixture.accountId, day, key: `key${key}` },
        ...{ ok: key, sandbox: 0, failed: 0, rejected: 1, bytes: 0, pages: 0 },
        ...{ durations: { 5: key }, lastAt: new Date(day), flushes: [] },
      })),
    );
    await fixture.store.console.usageDays.insertMany(documents);
  });
  after(() => fixture?.stop());

  const of = (path: string) =>
    `/accounts/${fixture.accountId}/${path}&from=${RANGE.from}&to=${RANGE.to}`;

  it('lists the keys with the most renders, and includes all keys in days and total', async () => {
    const { keys, days } = await billing.good<Usage>('GET', of('usage?'));
    expect(keys).to.have.length(MAX_USAGE_KEYS);
    expect(keys[0]).to.include({ id: `key${KEYS - 1}`, ok: 3 * (KEYS - 1), rejected: 3 });
    expect(keys.at(-1)).to.include({ id: 'key50', ok: 150 });
    expect(days[0]!.p50Ms).to.be.a('number');
    const each = (KEYS * (KEYS - 1)) / 2;
    expect(days.map(({ ok, rejected }) => [ok, rejected])).to.deep.equal(
      DAYS.map(() => [each, KEYS]),
    );
    const answer = await fixture.call(
      'GET',
      `/v1/usage?group_by=key&from=${RANGE.from}&to=${RANGE.to}`,
      {
        authorization: `Bearer ${fixture.key}`,
      },
    );
    const { items, total } = JSON.parse(answer.body.toString());
    expect(items).to.have.length(MAX_USAGE_KEYS);
    expect(total).to.include({ counted: DAYS.length * each, rejected: DAYS.length * KEYS });
  });

  it('can be filtered by a key that is not listed', async () => {
    const { days } = await billing.good<Usage>('GET', of('usage?key=key3'));
    expect(days.map(({ ok }) => ok)).to.deep.equal([3, 3, 3]);
  });

  it('is exported with all keys, up to a number of rows', async () => {
    const { body } = await billing.call('GET', of('usage.csv?'));
    expect(body.toString().trimEnd().split('\r\n')).to.have.length(1 + DAYS.length * KEYS);
    const rows = (key?: string) => exportedUsage(fixture.store, fixture.accountId, RANGE, key, 3);
    expect((await rows('key3')).map(({ day, key, ok }) => [day, key, ok])).to.deep.equal(
      DAYS.map(day => [day, 'key3', 3]),
    );
    const error = await rows().catch(thrown => thrown);
    expect(error.message).to.equal(
      'The export has more than 3 rows. Choose a shorter range or one API key.',
    );
  });
});
