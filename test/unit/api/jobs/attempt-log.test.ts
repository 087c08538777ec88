import { expect } from 'chai';
import { attemptHistory, attemptsOf } from '../../../../api/jobs/attempt-log.ts';
import type { JobStatus } from '../../../../api/store/store.ts';

const at = (second: number) => new Date(Date.UTC(2027, 0, 1, 12, 0, second));
const interrupted = { startedAt: at(1), endedAt: at(2) };
const lost = { code: 'render_failed', reason: 'worker_lost' } as const;

describe('the attempts of an asynchronous render', () => {
  it('are none before the first, and in a document without a log', () => {
    expect(attemptsOf({})).to.equal(0);
    expect(attemptHistory({ status: 'queued' })).to.deep.equal([]);
  });

  it('say how each of them ended', () => {
    const attemptLog = [
      interrupted,
      { startedAt: at(3), endedAt: at(4), error: lost },
      { startedAt: at(5) },
    ];
    expect(attemptsOf({ attemptLog })).to.equal(3);
    expect(attemptHistory({ attemptLog, status: 'running' })).to.deep.equal([
      { ...attemptLog[0], outcome: 'interrupted' },
      { ...attemptLog[1], outcome: 'failed' },
      { ...attemptLog[2], outcome: 'running' },
    ]);
  });

  for (const status of ['succeeded', 'canceled', 'expired'] as JobStatus[])
    it(`end with a render that is ${status} while it runs`, () => {
      const attemptLog = [interrupted, { startedAt: at(3) }];
      const [first, last] = attemptHistory({ attemptLog, status, endedAt: at(9) });
      expect(first).to.deep.equal({ ...interrupted, outcome: 'interrupted' });
      expect(last).to.deep.equal({ startedAt: at(3), endedAt: at(9), outcome: status });
    });

  it('have ended before a render that is canceled while it waits again', () => {
    const job = { attemptLog: [interrupted], status: 'canceled', endedAt: at(9) } as const;
    expect(attemptHistory({ ...job, attemptLog: [interrupted] })).to.deep.equal([
      { ...interrupted, outcome: 'interrupted' },
    ]);
  });

  it('have the error of the render when it fails, unless the last was interrupted', () => {
    const job = {
      attemptLog: [{ startedAt: at(3) }],
      status: 'failed' as const,
      endedAt: at(9),
      error: { ...lost, message: 'The worker was lost.' },
    };
    expect(attemptHistory(job)[0]).to.deep.include({ outcome: 'failed', error: job.error });
    const [last] = attemptHistory({ ...job, lastInterrupted: true });
    expect(last).to.deep.equal({ startedAt: at(3), endedAt: at(9), outcome: 'interrupted' });
  });
});
