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
  it('are the four built-in ones by default', () => {
    expect(parsePlans([])).to.deep.equal(BUILT_IN);
  });

  it('can be changed and extended, with names in any case and a quota for display', () => {
    expect(parsePlans(['Free=3', ' growth = 5 : 10000 ', 'Enterprise=32'])).to.deep.equal([
      { name: 'free', parallel: 3 },
      BUILT_IN[1],
      { name: 'growth', parallel: 5, monthlyQuota: 10_000 },
      BUILT_IN[3],
      { name: 'enterprise', parallel: 32 },
    ]);
  });

  const wrong: Record<string, string> = {
    free: '`=` is missing',
    '=3': 'must start with a letter',
    'two words=3': 'must start with a letter',
    '3d=3': 'must start with a letter',
    'free=': 'must be an integer from 1 to 10000',
    'free=0': 'must be an integer from 1 to 10000',
    'free=-1': 'must be an integer from 1 to 10000',
    'free=1.5': 'must be an integer from 1 to 10000',
    'free=10001': 'must be an integer from 1 to 10000',
    'free=1=2': 'must be an integer from 1 to 10000',
    'free=1:': 'the monthly quota must be an integer',
    'free=1:many': 'the monthly quota must be an integer',
  };
  for (const [entry, why] of Object.entries(wrong)) {
    it(`reject \`${entry}\` with an error that names it and the correct format`, () => {
      expect(() => parsePlans([entry]))
        .to.throw(ConfigError)
        .with.property('message')
        .that.contains(`\`${entry}\``)
        .and.contains(why)
        .and.contains('growth=4:10000');
    });
  }

  it('reject a plan that is listed twice', () => {
    expect(() => parsePlans(['team=2', 'TEAM=3'])).to.throw(ConfigError, '`team` is listed twice');
  });
});
