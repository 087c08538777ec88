import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { type RepeatedTask, repeatedly } from '../../../common/lifecycle.ts';
import { silentLog } from '../../../common/log.ts';
import { eventually } from '../../support/eventually.ts';

const NEVER = new AbortController().signal;

const recordingLog = () => {
  const lines: [level: string, reason: string, message: string][] = [];
  const at = (level: string) => (fields: { reason: string }, message: string) =>
    lines.push([level, fields.reason, message]);
  const log = { warn: at('warn'), debug: at('debug') } as unknown as RepeatedTask['log'];
  return { log, lines };
};

const task = (fields: Partial<RepeatedTask>) =>
  repeatedly({
    name: 'task',
    everyMs: 1,
    run: async () => {},
    log: silentLog,
    failure: 'could not run',
    ...fields,
  });

describe('a repeated task', () => {
  it('goes on after runs that fail, and logs each of them', async () => {
    for (const level of ['warn', 'debug'] as const) {
      const { log, lines } = recordingLog();
      let runs = 0;
      const run = async () => {
        runs++;
        if (runs <= 2) throw new Error(`failure ${runs}`);
      };
      const service = task({ run, log, ...(level === 'debug' && { level }) });
      await service.start();
      await eventually(() => expect(runs).to.be.at.least(4));
      await service.stop(NEVER);
      expect(lines).to.deep.equal([
        [level, 'failure 1', 'could not run'],
        [level, 'failure 2', 'could not run'],
      ]);
    }
  });

  it('runs once at a time, and not after its end', async () => {
    const ends: (() => void)[] = [];
    const run = () => new Promise<void>(resolve => ends.push(resolve));
    const service = task({ everyMs: 0, run });
    await service.start();
    for (let turn = 0; turn < 50; turn++) await nextTurn();
    expect(ends).to.have.length(1);
    ends[0]!();
    await eventually(() => expect(ends).to.have.length(2));
    const stopped = service.stop(NEVER);
    ends[1]!();
    await stopped;
    for (let turn = 0; turn < 50; turn++) await nextTurn();
    expect(ends).to.have.length(2);
  });

  it('stops during a pause, however long', async () => {
    let runs = 0;
    const run = async () => void runs++;
    const service = task({ everyMs: 3600e3, run });
    await service.start();
    await eventually(() => expect(runs).to.equal(1));
    await service.stop(NEVER);
    expect(runs).to.equal(1);
  });

  it('aborts the run at its stop, and waits for its end without an error in the log', async () => {
    const { log, lines } = recordingLog();
    let ended = false;
    const run = async (signal: AbortSignal) => {
      await new Promise(resolve => signal.addEventListener('abort', resolve));
      await nextTurn();
      ended = true;
      signal.throwIfAborted();
    };
    const service = task({ run, log });
    await service.start();
    await service.stop(NEVER);
    expect(ended).to.equal(true);
    expect(lines).to.deep.equal([]);
  });

  it('does not wait for a run after the deadline', async () => {
    const service = task({ run: () => new Promise(() => {}) });
    await service.start();
    const deadline = new AbortController();
    const stopped = service.stop(deadline.signal);
    deadline.abort();
    await stopped;
  });
});
