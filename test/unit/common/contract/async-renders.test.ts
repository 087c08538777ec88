import { expect } from 'chai';
import { asyncRenderWaitQuerySchema, parseTtl } from '../../../../common/contract/async-renders.ts';

const HOUR = 3600e3;

describe('the parameters of asynchronous renders', () => {
  it('accept a `ttl` from a minute to the limit of the installation', () => {
    expect(parseTtl(undefined, 168 * HOUR)).to.equal(24 * HOUR);
    expect(parseTtl(undefined, HOUR)).to.equal(HOUR);
    expect(parseTtl('90m', 168 * HOUR)).to.equal(1.5 * HOUR);
    expect(parseTtl('168h', 168 * HOUR)).to.equal(168 * HOUR);
    for (const wrong of ['', '1', '59s', '168h1s', '-24h', 'day', 3600, null, {}])
      expect(() => parseTtl(wrong, 168 * HOUR), String(wrong)).to.throw(
        /^`ttl` must be a duration from 1m to 168h, the limit of this installation, such as `24h`, not /,
      );
  });

  it('accept a `wait` of up to a minute', () => {
    for (const good of ['0', '500ms', '30s', '60s', '1m'])
      expect(asyncRenderWaitQuerySchema.safeParse({ wait: good }).success, good).to.equal(true);
    for (const wrong of ['', '30', '61s', '-1s', 'yes'])
      expect(asyncRenderWaitQuerySchema.safeParse({ wait: wrong }).success, wrong).to.equal(false);
  });
});
