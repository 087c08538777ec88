import { execFileSync } from 'node:child_process';
import { expect } from 'chai';
import { Dispatcher } from '../../../api/queue/dispatcher.ts';
import { type Connections, createConnections } from '../../../api/workers/connections.ts';
import { openSession, type Session } from '../../../api/workers/session.ts';
import { parseWorkerSources } from '../../../api/workers/worker-addresses.ts';
import { Workers } from '../../../api/workers/workers.ts';
import { silentLog } from '../../../common/log.ts';
import { createMetrics } from '../../../common/operations.ts';
import { startWorker, TEST_SECRET, type TestWorker } from '../../support/worker.ts';

describe('Dispatcher with a real worker', () => {
  let worker: TestWorker;
  let workers: Workers;
  let connections: Connections;
  let dispatch: Dispatcher<Session>;

  beforeEach(async () => {
    worker = await startWorker();
    workers = new Workers({
      sources: parseWorkerSources([worker.address]),
      pool: 'default',
      secret: TEST_SECRET,
      log: silentLog,
    });
    await workers.start();
    connections = createConnections();
    dispatch = new Dispatcher<Session>({
      queue: { maxLength: 100, maxBytes: 1_000, waitMs: 15_000, waitWithoutWorkersMs: 15_000 },
      workers: workers.registry,
      openSlot: openSession(connections),
      secret: TEST_SECRET,
      pool: 'default',
      metrics: createMetrics({ processDefaults: false }),
    });
  });

  afterEach(async () => {
    await workers.stop();
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

  it('runs eight renders on two slots, two at a time and each in a new page', async () => {
    let running = 0;
    let most = 0;
    const both = Promise.withResolvers<void>();
    const seen = await Promise.all(
      Array.from({ length: 8 }, (_, i) =>
        dispatch.dispatch(job(`account ${i % 3}`), async session => {
          most = Math.max(most, ++running);
          if (most === 2) both.resolve();
          await both.promise; // the first render waits until a second one runs
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
    await worker.until({ busy: 0, ready: 2 });
  });

  it('retries a render whose Chrome was killed after the worker has started another one', async () => {
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
      try {
        process.kill(Number(pid), 'SIGKILL');
      } catch (error) {
        // A helper ends by itself when its browser is gone.
        if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
      }
    expect(await answer).to.equal(42);
    expect(attempts).to.have.length(2);
    expect(await attempts[0]).to.include({ reason: 'chrome_died' });
  });

  it('reassigns the slot of a canceled render to the next in the queue', async () => {
    const endless = [new AbortController(), new AbortController()].map(controller => {
      const open = Promise.withResolvers<void>();
      const answer = dispatch.dispatch(job('x', controller.signal), session => {
        open.resolve();
        return evaluated(session, 'new Promise(() => {})');
      });
      answer.catch(() => {});
      return { controller, answer, open: open.promise };
    });
    await Promise.all(endless.map(({ open }) => open));
    const next = dispatch.dispatch(job('y'), session => evaluated(session, '6 * 7'));
    expect(dispatch.depth()).to.equal(1);
    const why = new Error('the client disconnected');
    endless[0]!.controller.abort(why);
    expect(await next).to.equal(42);
    endless[1]!.controller.abort(why);
    expect(await Promise.allSettled(endless.map(({ answer }) => answer))).to.deep.equal([
      { status: 'rejected', reason: why },
      { status: 'rejected', reason: why },
    ]);
  });
});
