import { expect } from 'chai';
import { knownFrom, knownPeriodFrom, leanAdmission, type Told } from '../../api/accounts/lean-leases.ts';
import { createRemembered } from '../../api/accounts/remembered.ts';
import { ACCOUNT_STATES } from '../../api/store/store.ts';

const told: Told = {
  admitted: true,
  plan: 'scale',
  state: 'active',
  intranet: true,
  limit: 8,
  hasExpired: false,
  key: { id: 'k1' },
};
const known = { plan: 'scale', state: 'active', intranet: true, limit: 8 };

describe('what is remembered of an admission', () => {
  it('is what its update looks for', () => {
    expect(knownFrom(told, false)).to.deep.equal({ ...known, keyId: 'k1' });
    const { key: _, ...ofMember } = told;
    expect(knownFrom(ofMember, false)).to.deep.equal(known);
  });

  it('is nothing after one that was refused, with an expired lease, or by a key that ends', () => {
    const others = [{ admitted: false }, { hasExpired: true }, { key: { id: 'k1', expiresAt: new Date() } }];
    for (const other of others) expect(knownFrom({ ...told, ...other }, false)).to.equal(undefined);
  });

  it('is nothing in a state that is served for a time, unless every state is', () => {
    const remembered = (everyStateServed: boolean) => ACCOUNT_STATES.filter(state => knownFrom({ ...told, state }, everyStateServed));
    expect(remembered(false)).to.deep.equal(['active', 'trialing']);
    expect(remembered(true)).to.deep.equal([...ACCOUNT_STATES]);
  });

  it('finds nothing when something of it is missing', () => {
    const asker = { by: 'mine', key: { hashes: ['mine'], networks: [] } };
    const filter = leanAdmission('account', 'lease', asker, { limit: 8 } as never, false);
    const empty = { $eq: undefined };
    expect(filter).to.deep.include({ plan: empty, state: empty, intranet: empty });
    expect(filter['keys'].$elemMatch).to.deep.include({ id: empty });
  });

  it('is forgotten for another, the oldest first', () => {
    const remembered = createRemembered<number>(2);
    for (const [name, value] of [
      ['a', 1],
      ['b', 2],
      ['a', 3],
      ['c', 4],
    ] as const)
      remembered.learn(name, value);
    expect(['a', 'b', 'c'].map(remembered.of)).to.deep.equal([3, undefined, 4]);
    remembered.learn('c', undefined);
    expect(['a', 'b', 'c'].map(remembered.of)).to.deep.equal([3, undefined, undefined]);
  });
});

describe('what is remembered of a period', () => {
  const from = (period: string, billing?: { periodStart?: Date; periodEnd?: Date }) =>
    knownPeriodFrom({ usage: { period, count: 1 }, ...(billing && { billing }) });
  const [periodStart, periodEnd] = [new Date('2026-11-15T10:00:00Z'), new Date('2026-12-15T10:00:00Z')];

  it('is a month to its end, also of an account that once went to pay', () => {
    expect(from('2026-11')).to.deep.equal({ period: '2026-11', ends: new Date('2026-12-01') });
    expect(from('2026-12', {})).to.deep.equal({ period: '2026-12', ends: new Date('2027-01-01') });
  });

  it('is a period of Stripe’s to its end', () => {
    const billing = { periodStart, periodEnd };
    expect(from('2026-11-15', billing)).to.deep.equal({ period: '2026-11-15', ends: periodEnd, billing });
  });

  it('is nothing when it follows from something else', () => {
    expect(from('2026-11-15')).to.equal(undefined);
    expect(from('2026-11', { periodStart, periodEnd })).to.equal(undefined);
    expect(from('2026-12-15', { periodStart, periodEnd })).to.equal(undefined);
    expect(from('2026-11-15', { periodEnd })).to.equal(undefined);
  });
});
