import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { beginningsOf, closedLoop, leadOf } from '../../../bench/closed-loop.ts';

describe('closed loop', () => {
  it('keeps all callers busy and measures the requested number of renders', async () => {
    let [begun, running, most] = [0, 0, 0];
    const { done, timesMs, perSecond } = await closedLoop(10, 3, async () => {
      begun += 1;
      running += 1;
      most = Math.max(most, running);
      await turn();
      running -= 1;
    });
    expect(most).to.equal(3);
    expect(timesMs).to.have.length(10);
    expect(perSecond).to.be.greaterThan(0);
    expect(done).to.equal(begun);
    expect(done).to.be.within(leadOf(3) + 10, beginningsOf(10, 3));
  });

  it('does not measure warm-up renders', async () => {
    let nowMs = 0;
    const render = async (nth: number) => {
      nowMs += nth < leadOf(1) ? 1_000 : 40;
    };
    const { timesMs, perSecond } = await closedLoop(5, 1, render, () => nowMs);
    expect(timesMs).to.deep.equal([40, 40, 40, 40, 40]);
    expect(perSecond).to.equal(25);
  });

  it('counts but does not measure renders that run when the measurement ends', async () => {
    const { done, timesMs } = await closedLoop(4, 4, () => turn());
    expect(timesMs).to.have.length(4);
    expect(done).to.equal(beginningsOf(4, 4));
  });

  it('rejects with the first failure after all callers have ended', async () => {
    let running = 0;
    const failure = await closedLoop(20, 4, async nth => {
      running += 1;
      await turn();
      running -= 1;
      if (nth >= 6) throw new Error(`render ${nth} failed`);
    }).catch(error => error as Error);
    expect(failure).to.be.instanceOf(Error);
    expect((failure as Error).message).to.match(/^render \d+ failed$/);
    expect(running).to.equal(0);
  });
});
