import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { createLifecycle, type Service } from '../../../common/lifecycle.ts';
import { silentLog } from '../../../common/log.ts';

const recorder = () => {
  const told: string[] = [];
  const service = (
    name: string,
    faults: { start?: Error; stop?: Error; hangs?: boolean } = {},
  ): Service => ({
    name,
    start: async () => {
      told.push(`start ${name}`);
      if (faults.start) throw faults.start;
    },
    stop: async deadline => {
      told.push(`stop ${name}`);
      if (faults.hangs)
        await new Promise<void>(resolve => deadline.addEventListener('abort', () => resolve()));
      if (faults.stop) throw faults.stop;
    },
  });
  return { told, service };
};

describe('the lifecycle', () => {
  it('starts in order and stops in reverse', async () => {
    const { told, service } = recorder();
    const lifecycle = createLifecycle(silentLog, 1_000, [service('a'), service('b'), service('c')]);
    expect(lifecycle.state()).to.equal('new');
    await lifecycle.start();
    expect(lifecycle.state()).to.equal('running');
    const stopping = lifecycle.stop();
    expect(lifecycle.state()).to.equal('stopping');
    expect(lifecycle.stop()).to.equal(stopping);
    expect(await stopping).to.equal(true);
    expect(lifecycle.state()).to.equal('stopped');
    expect(told).to.deep.equal(['start a', 'start b', 'start c', 'stop c', 'stop b', 'stop a']);
  });

  it('tells only a service that still starts to give up', async () => {
    const { service } = recorder();
    const told: string[] = [];
    const listening = (
      name: string,
      work: (signal: AbortSignal) => Promise<void> = async () => {},
    ): Service => ({
      ...service(name),
      start: async signal => {
        signal!.addEventListener('abort', () => told.push(name));
        await work(signal!);
      },
    });
    const whole = createLifecycle(silentLog, 1_000, [listening('a'), listening('b')]);
    await whole.start();
    await whole.stop();
    expect(told).to.deep.equal([]);

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
    expect(told).to.deep.equal(['b']);
  });

  it('stops what had started when a later one does not start, and says which', async () => {
    const { told, service } = recorder();
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
    expect(told).to.deep.equal(['start a', 'start b', 'stop a']);
    expect(lifecycle.state()).to.equal('stopped');
  });

  it('goes on stopping when one fails, and is then not clean', async () => {
    const { told, service } = recorder();
    const lifecycle = createLifecycle(silentLog, 1_000, [
      service('a'),
      service('b', { stop: new Error('stuck') }),
    ]);
    await lifecycle.start();
    expect(await lifecycle.stop()).to.equal(false);
    expect(told.slice(-2)).to.deep.equal(['stop b', 'stop a']);
  });

  it('hurries those that are still stopping when the deadline has passed', async () => {
    const { service } = recorder();
    const lifecycle = createLifecycle(silentLog, 30, [service('a', { hangs: true })]);
    await lifecycle.start();
    // the deadline's own timer keeps no process alive
    const keepAlive = setInterval(() => {}, 1_000);
    expect(await lifecycle.stop()).to.equal(false);
    clearInterval(keepAlive);
  });

  it('starts nothing more once it was told to stop, and stops the one that was just starting', async () => {
    const { told, service } = recorder();
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
    expect(told).to.deep.equal(['stop a']);
  });

  it('lets a start that waits give up when it is told to stop', async () => {
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

/** A process with this lifecycle, whose first line has come. */
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
  it('has written its last line when it ends', async () => {
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

  it('ends although nobody reads its log any more', async () => {
    const { child, ended } = await running();
    child.stdout!.destroy();
    child.kill('SIGTERM');
    const limit = setTimeout(() => child.kill('SIGKILL'), 10_000);
    expect(await ended).to.deep.equal([0, null]);
    clearTimeout(limit);
  });
});
