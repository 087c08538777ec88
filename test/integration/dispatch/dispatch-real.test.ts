import { execFileSync } from 'node:child_process';
import { expect } from 'chai';
import { Dispatcher } from '../../../api/queue/dispatcher.ts';
import { type Connections, createConnections } from '../../../api/workers/connections.ts';
import { openSession, type Session } from '../../../api/workers/session.ts';
import { parseWorkerSources } from '../../../api/workers/worker-addresses.ts';
import { createWorkers, type Workers } from '../../../api/workers/workers.ts';
import { silentLog } from '../../../common/log.ts';
import { createMetrics } from '../../../common/operations.ts';
import { startWorker, TEST_SECRET, type TestWorker } from '../../support/worker.ts';

describe('dispatch to a real worker', () => {
  let worker: TestWorker;
  let workers: Workers;
  let connections: Connections;
  let dispatch: Dispatcher<Session>;

  beforeEach(async () => {
    worker = await startWorker();
    workers = createWorkers({
      sources: parseWorkerSources([worker.address]),
      pool: 'default',
      secret: TEST_SECRET,
      log: silentLog,
    });
    await workers.start();
    connections = createConnections();
    dispatch = new Dispatcher<Session>({
      queue: { maxLength: 100, maxBytes: 1_000, waitMs: 15_000, waitWithoutWorkersMs: 15_000 },
      workers,
      openSlot: openSession(connections),
      secret: TEST_SECRET,
      pool: 'default',
      metrics: createMetrics({ processDefaults: false }),
    });
  });

  afterEach(async () => {
    await workers.stop(AbortSignal.timeout(1_000));
    await connections.stop(AbortSignal.timeout(1_000));
    await worker.stop();
  });

  const job = (accountId: string, signal = AbortSignal.timeout(15_000)) => ({
    ...{
      accountId,
      trial: false,
      bytes: 1,
      renderId: accountId,
      egress: 'public' as const,
      maxMs: 15_000,
    },
    signal,
  });

  const evaluated = async (session: Session, expression: string) =>
    (
      await session.command('Runtime.evaluate', {
        expression,
        awaitPromise: true,
        returnByValue: true,
      })
    ).result.value;

  it('runs more renders than there are slots, each in a page of its own, and never more at once than slots', async () => {
    let running = 0;
    let most = 0;
    const both = Promise.withResolvers<void>();
    const seen = await Promise.all(
      Array.from({ length: 8 }, (_, i) =>
        dispatch.dispatch(job(`account ${i % 3}`), async session => {
          most = Math.max(most, ++running);
          if (most === 2) both.resolve();
          await both.promise; // the first one stays until another runs beside it
          const before = await evaluated(session, 'globalThis.mark');
          await evaluated(session, `globalThis.mark = ${i}`);
          const after = await evaluated(session, 'globalThis.mark');
          running--;
          return { before, after };
        }),
      ),
    );
    expect(seen).to.deep.equal(
      Array.from({ length: 8 }, (_, i) => ({ before: undefined, after: i })),
    );
    expect(most).to.equal(2);
    await dispatch.drained();
    await worker.until({ busy: 0, ready: 2 });
  });

  it('begins a render again when Chrome is killed under it, once the worker has started another', async () => {
    const attempts: Promise<unknown>[] = [];
    const begun = Promise.withResolvers<void>();
    const answer = dispatch.dispatch(job('x'), async session => {
      attempts.push(session.ended);
      if (attempts.length > 1) return evaluated(session, '6 * 7');
      begun.resolve();
      return evaluated(session, 'new Promise(() => {})');
    });
    await begun.promise;
    const marks = ['-f', `remote-debugging-pipe.*pressroom-chrome-${process.pid}-`];
    for (const pid of execFileSync('pgrep', marks, { encoding: 'utf8' }).trim().split('\n'))
      process.kill(Number(pid), 'SIGKILL');
    expect(await answer).to.equal(42);
    expect(attempts).to.have.length(2);
    expect(await attempts[0]).to.include({ reason: 'chrome_died' });
  });

  it('gives the slot of a caller who went away to the next', async () => {
    const stuck = [new AbortController(), new AbortController()].map(controller => {
      const open = Promise.withResolvers<void>();
      const answer = dispatch.dispatch(job('x', controller.signal), session => {
        open.resolve();
        return evaluated(session, 'new Promise(() => {})');
      });
      answer.catch(() => {});
      return { controller, answer, open: open.promise };
    });
    await Promise.all(stuck.map(({ open }) => open));
    const next = dispatch.dispatch(job('y'), session => evaluated(session, '6 * 7'));
    expect(dispatch.depth()).to.equal(1);
    const why = new Error('the client hung up');
    stuck[0]!.controller.abort(why);
    expect(await next).to.equal(42);
    stuck[1]!.controller.abort(why);
    expect(await Promise.allSettled(stuck.map(({ answer }) => answer))).to.deep.equal([
      { status: 'rejected', reason: why },
      { status: 'rejected', reason: why },
    ]);
  });
});
