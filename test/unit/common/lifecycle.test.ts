import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { createLifecycle, type Service } from '../../../common/lifecycle.ts';
import { silentLog } from '../../../common/log.ts';
import { collectGarbage } from '../../support/collect-garbage.ts';

const recorder = () => {
  const events: string[] = [];
  const service = (
    name: string,
    faults: { start?: Error; stop?: Error; hangs?: boolean } = {},
  ): Service => ({
    name,
    start: async () => {
      events.push(`start ${name}`);
      if (faults.start) throw faults.start;
    },
    stop: async deadline => {
      events.push(`stop ${name}`);
      if (faults.hangs)
        await new Promise<void>(resolve => deadline.addEventListener('abort', () => resolve()));
      if (faults.stop) throw faults.stop;
    },
  });
  return { events, service };
};

describe('the lifecycle', () => {
  it('starts in order and stops in reverse', async () => {
    const { events, service } = recorder();
    const lifecycle = createLifecycle(silentLog, 1_000, [service('a'), service('b'), service('c')]);
    expect(lifecycle.state()).to.equal('new');
    await lifecycle.start();
    expect(lifecycle.state()).to.equal('running');
    const stopping = lifecycle.stop();
    expect(lifecycle.state()).to.equal('stopping');
    expect(lifecycle.stop()).to.equal(stopping);
    expect(await stopping).to.equal(true);
    expect(lifecycle.state()).to.equal('stopped');
    expect(events).to.deep.equal(['start a', 'start b', 'start c', 'stop c', 'stop b', 'stop a']);
  });

  it('aborts only the start of a service that is still starting', async () => {
    const { service } = recorder();
    const events: string[] = [];
    const listening = (
      name: string,
      work: (signal: AbortSignal) => Promise<void> = async () => {},
    ): Service => ({
      ...service(name),
      start: async signal => {
        signal!.addEventListener('abort', () => events.push(name));
        await work(signal!);
      },
    });
    const whole = createLifecycle(silentLog, 1_000, [listening('a'), listening('b')]);
    await whole.start();
    await whole.stop();
    expect(events).to.deep.equal([]);

    const waits = (signal: AbortSignal) =>
      once(signal, 'abort').then(() => signal.throwIfAborted());
    const half = createLifecycle(silentLog, 1_000, [
      listening('a'),
      listening('b', waits),
      listening('c'),
    ]);
    const starting = half.start();
    await nextTurn();
    await half.stop();
    await starting;
    expect(events).to.deep.equal(['b']);
  });

  it('stops started services when a later one fails to start, and names it', async () => {
    const { events, service } = recorder();
    const lifecycle = createLifecycle(silentLog, 1_000, [
      service('a'),
      service('b', { start: new Error('port taken') }),
      service('c'),
    ]);
    const error = await lifecycle.start().then(
      () => undefined,
      (e: Error) => e,
    );
    expect(error?.message).to.equal('b did not start: port taken');
    expect(events).to.deep.equal(['start a', 'start b', 'stop a']);
    expect(lifecycle.state()).to.equal('stopped');
  });

  it('continues to stop when a service fails, and is then not clean', async () => {
    const { events, service } = recorder();
    const lifecycle = createLifecycle(silentLog, 1_000, [
      service('a'),
      service('b', { stop: new Error('stuck') }),
    ]);
    await lifecycle.start();
    expect(await lifecycle.stop()).to.equal(false);
    expect(events.slice(-2)).to.deep.equal(['stop b', 'stop a']);
  });

  it('aborts the deadline signal of services that are still stopping when the time is up', async () => {
    const { service } = recorder();
    const lifecycle = createLifecycle(silentLog, 30, [service('a', { hangs: true })]);
    await lifecycle.start();
    // the deadline's own timer does not keep the process alive
    const keepAlive = setInterval(() => {}, 1_000);
    expect(await lifecycle.stop()).to.equal(false);
    clearInterval(keepAlive);
  });

  it('is not clean after the deadline, even if no service listened to it', async () => {
    let seen: boolean | undefined;
    const deaf: Service = {
      name: 'deaf',
      start: async () => {},
      stop: async deadline => {
        for (let times = 0; times < 10; times++) {
          await sleep(20);
          collectGarbage();
        }
        seen = deadline.aborted;
      },
    };
    const lifecycle = createLifecycle(silentLog, 100, [deaf]);
    await lifecycle.start();
    expect([await lifecycle.stop(), seen]).to.deep.equal([false, true]);
  });

  it('starts no more services after a stop, and stops the one that was starting', async () => {
    const { events, service } = recorder();
    const first = service('a');
    const begun = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const slow = async () => {
      begun.resolve();
      await goOn.promise;
    };
    const lifecycle = createLifecycle(silentLog, 1_000, [{ ...first, start: slow }, service('b')]);
    const starting = lifecycle.start();
    await begun.promise;
    const stopping = lifecycle.stop();
    goOn.resolve();
    await starting;
    expect(await stopping).to.equal(true);
    expect(events).to.deep.equal(['stop a']);
  });

  it('aborts a waiting start when it is stopped', async () => {
    const waiting: Service = {
      name: 'database',
      start: signal =>
        new Promise((_resolve, reject) =>
          signal?.addEventListener('abort', () => reject(new Error('gave up'))),
        ),
      stop: async () => expect.fail('it never started'),
    };
    const lifecycle = createLifecycle(silentLog, 1_000, [waiting]);
    const starting = lifecycle.start();
    expect(await lifecycle.stop()).to.equal(true);
    await starting;
    expect(lifecycle.state()).to.equal('stopped');
  });
});

/** A process with this lifecycle that has written its first line. */
async function running(): Promise<{ child: ChildProcess; ended: Promise<unknown[]> }> {
  const script = `
    import { createLifecycle, runUntilSignal } from '${new URL('../../../common/lifecycle.ts', import.meta.url)}';
    import { createLog } from '${new URL('../../../common/log.ts', import.meta.url)}';
    const log = createLog('info', 'test');
    const timer = setInterval(() => {}, 1_000);
    const service = { name: 'a', start: async () => log.info('started'), stop: async () => clearInterval(timer) };
    await runUntilSignal(log, createLifecycle(log, 1_000, [service]));
  `;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  await once(child.stdout!, 'data');
  return { child, ended };
}

describe('a process that runs until a signal', () => {
  it('writes its last line before it exits', async () => {
    const { child, ended } = await running();
    let text = '';
    child.stdout!.on('data', data => {
      text += data;
    });
    const closed = once(child.stdout!, 'close');
    child.kill('SIGTERM');
    expect(await ended).to.deep.equal([0, null]);
    await closed;
    expect(text).to.match(/"msg":"stopped"\}\n$/);
  });

  it('exits when the reader of its log has gone', async () => {
    const { child, ended } = await running();
    child.stdout!.destroy();
    child.kill('SIGTERM');
    const limit = setTimeout(() => child.kill('SIGKILL'), 10_000);
    expect(await ended).to.deep.equal([0, null]);
    clearTimeout(limit);
  });
});
