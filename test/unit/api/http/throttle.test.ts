import { expect } from 'chai';
import { createThrottle } from '../../../../api/http/throttle.ts';

describe('the throttle of rejections', () => {
  function paced() {
    const waits: number[] = [];
    let nowMs = 1_000;
    const pace = createThrottle(
      { gapMs: 10, maxMs: 25 },
      () => nowMs,
      async ms => void waits.push(ms),
    );
    return { pace, waits, later: (ms: number) => (nowMs += ms) };
  }

  it('delays only calls that arrive faster than one per gap', async () => {
    const { pace, waits, later } = paced();
    for (let i = 0; i < 5; i++) {
      await pace();
      later(10);
    }
    expect(waits).to.deep.equal([]);
  });

  it('spreads concurrent calls, and delays none longer than the limit', async () => {
    const { pace, waits, later } = paced();
    await Promise.all(Array.from({ length: 6 }, pace));
    expect(waits).to.deep.equal([10, 20, 25, 25, 25]);
    later(10);
    await pace();
    expect(waits.slice(5), 'those were not queued').to.deep.equal([20]);
  });
});
