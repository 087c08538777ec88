import { expect } from 'chai';
import { createPace } from '../../api/http/pace.ts';

describe('the pace', () => {
  function paced() {
    const waits: number[] = [];
    let nowMs = 1_000;
    const pace = createPace(
      { gapMs: 10, longestMs: 25 },
      () => nowMs,
      async ms => void waits.push(ms),
    );
    return { pace, waits, later: (ms: number) => (nowMs += ms) };
  }

  it('holds back only what comes faster than it', async () => {
    const { pace, waits, later } = paced();
    for (let i = 0; i < 5; i++) {
      await pace();
      later(10);
    }
    expect(waits).to.deep.equal([]);
  });

  it('spreads what comes at once, and lets nobody by who comes when the line is long', async () => {
    const { pace, waits, later } = paced();
    await Promise.all(Array.from({ length: 6 }, pace));
    expect(waits).to.deep.equal([10, 20, 25, 25, 25]);
    later(10);
    await pace();
    expect(waits.slice(5), 'those took no turn').to.deep.equal([20]);
  });
});
