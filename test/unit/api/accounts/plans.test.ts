// @proves plans

import { expect } from 'chai';
import { parsePlans } from '../../../../api/accounts/plans.ts';
import { ConfigError } from '../../../../common/config.ts';

const BUILT_IN = [
  { name: 'free', parallel: 1 },
  { name: 'starter', parallel: 2 },
  { name: 'growth', parallel: 4 },
  { name: 'scale', parallel: 8 },
];

describe('the plans', () => {
  it('are the four of the specification when nothing is configured', () => {
    expect(parsePlans([])).to.deep.equal(BUILT_IN);
  });

  it('can be changed and added to, with names in any case and a quota for display', () => {
    expect(parsePlans(['Free=3', ' growth = 5 : 10000 ', 'Enterprise=32'])).to.deep.equal([
      { name: 'free', parallel: 3 },
      BUILT_IN[1],
      { name: 'growth', parallel: 5, monthlyQuota: 10_000 },
      BUILT_IN[3],
      { name: 'enterprise', parallel: 32 },
    ]);
  });

  const wrong: Record<string, string> = {
    free: 'it has no `=`',
    '=3': 'a name is',
    'two words=3': 'a name is',
    '3d=3': 'a name is',
    'free=': 'a whole number from 1 to 10000',
    'free=0': 'a whole number from 1 to 10000',
    'free=-1': 'a whole number from 1 to 10000',
    'free=1.5': 'a whole number from 1 to 10000',
    'free=10001': 'a whole number from 1 to 10000',
    'free=1=2': 'a whole number from 1 to 10000',
    'free=1:': 'the monthly quota is a whole number',
    'free=1:many': 'the monthly quota is a whole number',
  };
  for (const [entry, why] of Object.entries(wrong)) {
    it(`are refused with \`${entry}\`, and the message names it and says how to mend it`, () => {
      expect(() => parsePlans([entry]))
        .to.throw(ConfigError)
        .with.property('message')
        .that.contains(`\`${entry}\``)
        .and.contains(why)
        .and.contains('growth=4:10000');
    });
  }

  it('are refused when one is given twice', () => {
    expect(() => parsePlans(['team=2', 'TEAM=3'])).to.throw(ConfigError, '`team` is given twice');
  });
});
