// @proves plans

import { expect } from 'chai';
import { LIMITS_OF_UNKNOWN_PLAN, parsePlans } from '../../../../api/accounts/plans.ts';
import { ConfigError } from '../../../../common/config.ts';

const maxWaiting = 25_000;
const BUILT_IN = [
  { name: 'free', parallel: 1, asyncParallel: 1, maxWaiting },
  { name: 'starter', parallel: 2, asyncParallel: 1, maxWaiting },
  { name: 'growth', parallel: 4, asyncParallel: 3, maxWaiting },
  { name: 'scale', parallel: 8, asyncParallel: 7, maxWaiting },
];

describe('the plans', () => {
  it('are the four built-in ones by default', () => {
    expect(parsePlans([])).to.deep.equal(BUILT_IN);
  });

  it('can be changed and extended, with names in any case and a quota for display', () => {
    expect(parsePlans(['Free=3', ' growth = 5 : 10000 ', 'Enterprise=32'])).to.deep.equal([
      { name: 'free', parallel: 3, asyncParallel: 2, maxWaiting },
      BUILT_IN[1],
      { name: 'growth', parallel: 5, asyncParallel: 4, maxWaiting, monthlyQuota: 10_000 },
      BUILT_IN[3],
      { name: 'enterprise', parallel: 32, asyncParallel: 31, maxWaiting },
    ]);
  });

  it('can limit asynchronous renders with options, in any order', () => {
    const plans = parsePlans([
      'team=16:50000 async_parallel=8 queue=5000',
      ' solo = 1  queue = 1000000   async_parallel = 1 ',
      'batch=4 async_parallel=4',
    ]);
    expect(plans.slice(BUILT_IN.length)).to.deep.equal([
      { name: 'team', parallel: 16, asyncParallel: 8, maxWaiting: 5_000, monthlyQuota: 50_000 },
      { name: 'solo', parallel: 1, asyncParallel: 1, maxWaiting: 1_000_000 },
      { name: 'batch', parallel: 4, asyncParallel: 4, maxWaiting },
    ]);
  });

  it('give an account whose plan is not configured the limits of one render', () => {
    expect(LIMITS_OF_UNKNOWN_PLAN).to.deep.equal({ parallel: 1, asyncParallel: 1, maxWaiting });
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
    'free=1:5:6': 'the monthly quota must be an integer',
    'team=4 async_parallel=0': '`async_parallel` must be an integer from 1 to 4',
    'team=4 async_parallel=5': '`async_parallel` must be an integer from 1 to 4',
    'team=4 async_parallel=': '`async_parallel` must be an integer from 1 to 4',
    'team=4 async_parallel': '`async_parallel` must be an integer from 1 to 4',
    'team=4 queue=0': '`queue` must be an integer from 1 to 1000000',
    'team=4 queue=1000001': '`queue` must be an integer from 1 to 1000000',
    'team=4 queue=1e3': '`queue` must be an integer from 1 to 1000000',
    'team=4 queue=1=2': '`queue` must be an integer from 1 to 1000000',
    'team=4 queue=5:6': '`queue` must be an integer from 1 to 1000000',
    'team=4 queue=5 queue=6': '`queue` is listed twice',
    'team=4 waiting=5': '`waiting` is not an option',
    'team=4 5000': '`5000` is not an option',
    'team=4 toString=5': '`toString` is not an option',
    'queue=5 team=4': '`team` is not an option',
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
