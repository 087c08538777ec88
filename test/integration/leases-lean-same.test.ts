import { expect } from 'chai';
import { knownPeriodFrom, leanAdmission, leanSettlement } from '../../api/accounts/lean-leases.ts';
import { ACCOUNT_STATES, type AccountDocument, type BillingDocument, type KeyDocument, type LeaseDocument } from '../../api/store/store.ts';
import { type Chance, chanceOfThisRun } from '../fault/harness/random.ts';
import { type LeaseRig, leaseRig, plans } from '../support/lease-rig.ts';

const ACCOUNTS = 1_000;
/** What is asked for in each of them. */
const LEASE = 'wanted';
const HASHES = ['mine', 'mine by the other pepper'];
const NETWORKS = ['192.0.2.0/24'];
const DAY_MS = 86_400_000;

const fromNow = (ms: number) => new Date(Date.now() + ms);
const day = (date: Date) => date.toISOString().slice(0, 10);

/** Mostly an account that may render, each thing about it being otherwise now and then. */
function anyAccount(chance: Chance, _id: string): AccountDocument {
  const or = <T>(usual: T, ...others: T[]): T => (chance.percent(85) ? usual : chance.pick(others));
  // A key's text is random: no two keys have its hashes.
  const mine = chance.int(0, 3);
  const key = (nth: number): KeyDocument => ({
    id: or('k1', 'k2'),
    hash: nth === Math.max(0, mine - 1) ? chance.pick(HASHES) : 'of another',
    name: 'key',
    last4: '0000',
    createdAt: new Date(),
    ...or<Partial<KeyDocument>>({}, { expiresAt: fromNow(-60e3) }, { expiresAt: fromNow(60e3) }),
    ...or<Partial<KeyDocument>>({}, { allowedIps: NETWORKS }, { allowedIps: ['198.51.100.0/24'] }),
  });
  const lease = (nth: number): LeaseDocument => ({
    id: chance.percent(3) ? LEASE : `lease ${nth}`,
    key: 'k1',
    expires: chance.percent(90) ? fromNow(3_600e3) : fromNow(chance.pick([-60e3, -3_600e3])),
  });
  const start = fromNow(-10 * DAY_MS);
  const billing = { periodStart: start, periodEnd: or(fromNow(10 * DAY_MS), fromNow(-DAY_MS), fromNow(-40 * DAY_MS)) };
  return {
    _id,
    name: _id,
    plan: or('starter', 'free', 'growth', 'discontinued'),
    state: or('active', ...ACCOUNT_STATES),
    ...(chance.percent(50) && { pastDueSince: fromNow(chance.pick([-30e3, -90e3])) }),
    intranet: or(false, true),
    keys: Array.from({ length: or(chance.int(1, 3), 0) }, (_, nth) => key(nth)),
    leases: Array.from({ length: chance.int(0, 3) }, (_, nth) => lease(nth)),
    usage: { period: chance.pick(['2001-01', day(new Date()).slice(0, 7), day(start), day(billing.periodEnd), '2999-01']), count: 41 },
    ...(chance.percent(40) && { billing: billing as BillingDocument }),
    createdAt: new Date(),
  };
}

/** Of the caller, or of somebody else. */
const networksIn = ({ keys }: AccountDocument) => (keys.some(({ allowedIps }) => allowedIps) ? NETWORKS : []);

describe('the short way to a lease, beside all rules, in accounts of any kind', () => {
  let rig: LeaseRig;
  before(async () => {
    rig = await leaseRig();
  });
  afterEach(() => rig.store.accounts.deleteMany({}));
  after(() => rig?.close());

  /** Each account twice: with these ids. */
  const twice = (nth: number) => [`short ${nth}`, `whole ${nth}`] as const;

  /** The same for each pair of accounts: how many of them the short way found, and what it left in those. */
  async function compare(
    scenario: string,
    alter: (account: AccountDocument) => void,
    short: (id: string, account: AccountDocument) => Promise<boolean>,
    whole: (id: string) => Promise<boolean>,
  ): Promise<void> {
    const chance = chanceOfThisRun(scenario);
    let found = 0;
    for (let nth = 0; nth < ACCOUNTS; nth++) {
      const [shortId, wholeId] = twice(nth);
      const account = anyAccount(chance, shortId);
      alter(account);
      await rig.store.accounts.insertMany([account, { ...account, _id: wholeId, name: wholeId }]);
      if (!(await short(shortId, account))) continue;
      found += 1;
      expect(await whole(wholeId), JSON.stringify(account)).to.equal(true);
      const [one, other] = await Promise.all([shortId, wholeId].map(async id => (await rig.store.accounts.findOne({ _id: id }))!));
      const last = (document: AccountDocument) => document.leases.find(({ id }) => id === LEASE)?.expires.getTime() ?? 0;
      expect(last(other!) - last(one!), JSON.stringify(account)).to.be.within(0, 5_000);
      for (const document of [one!, other!]) for (const lease of document.leases) if (lease.id === LEASE) lease.expires = account.createdAt;
      expect(one, JSON.stringify(account)).to.deep.equal({ ...other!, _id: shortId, name: shortId });
    }
    // Else the comparison would say little.
    expect(found).to.be.within(ACCOUNTS / 20, (ACCOUNTS * 19) / 20);
  }

  for (const everyStateServed of [false, true]) {
    it(`takes what they would take, and leaves what they would leave${everyStateServed ? ', where every state is served' : ''}`, async () => {
      const { admit } = rig.operations(rig.store, { everyStateServed });
      const known = { plan: 'starter', state: 'active', intranet: false, limit: 2, keyId: 'k1' } as const;
      const lease = { id: LEASE, key: 'k1', expires: { $add: ['$$NOW', 15_000] } };
      await compare(
        'admissions the short way',
        () => {},
        async (id, account) => {
          const networks = networksIn(account);
          const filter = leanAdmission(id, LEASE, { by: HASHES[0]!, key: { hashes: HASHES, networks } }, known, everyStateServed);
          return (await rig.store.leaseWrites.update(filter, [{ $set: { leases: { $concatArrays: ['$leases', [lease]] } } }])) === 1;
        },
        async id => {
          const found = await admit(id, LEASE, HASHES, networksIn((await rig.store.accounts.findOne({ _id: id }))!));
          return found?.admitted === true && plans.find(({ name }) => name === known.plan)!.parallel === found.limit;
        },
      );
    }).timeout(120_000);
  }

  it('counts what they would count, and leaves what they would leave', async () => {
    const { settle } = rig.operations();
    const chance = chanceOfThisRun('periods that are known');
    await compare(
      'settlements the short way',
      account => void (chance.percent(90) && account.leases.push({ id: LEASE, key: 'k1', expires: fromNow(chance.pick([60e3, -60e3])) })),
      async (id, { usage, billing }) => {
        // What was told of it, or of what it was before.
        const periods = [usage.period, usage.period, '2001-01', day(new Date()).slice(0, 7)];
        const told = { usage: { ...usage, period: chance.pick(periods) }, ...(billing && chance.percent(90) && { billing }) };
        const known = knownPeriodFrom(told);
        if (!known) return false;
        const change = { $pull: { leases: { id: LEASE } }, $inc: { 'usage.count': 1 } };
        return (await rig.store.leaseWrites.findAndModify(leanSettlement(id, LEASE, known), change, { _id: 1 })) !== null;
      },
      async id => (await settle(id, LEASE)) !== undefined,
    );
  }).timeout(120_000);
});
