import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { symlink } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { expect } from 'chai';
import { type Lock, type LockHolder, takeLock } from '../../../standalone/lock.ts';
import { mustBeFree, portIsFree, whoListens } from '../../../standalone/ports.ts';
import { temporaryFolder } from '../../support/temporary.ts';

describe('the lock of a data folder', () => {
  const at = temporaryFolder();

  it('has one holder, which reports its role, its process id and when it is ready', async () => {
    const lock = (await takeLock(at(), 'standalone')) as Lock;
    expect(lock.held).to.equal(true);
    const early = (await takeLock(at(), 'command')) as LockHolder;
    expect(early).to.include({ held: false, role: 'standalone', pid: process.pid });
    lock.ready();
    expect(await early.untilReady).to.equal(true);
    const late = (await takeLock(at(), 'command')) as LockHolder;
    expect(await late.untilReady).to.equal(true);
    early.disconnect();
    late.disconnect();
    await lock.release();
  });

  it('is the same for every path of the folder', async () => {
    await symlink(at(), at('alias'));
    const lock = (await takeLock(at(), 'command')) as Lock;
    const other = (await takeLock(at('alias'), 'command')) as LockHolder;
    expect(other.held).to.equal(false);
    other.disconnect();
    await lock.release();
  });

  it('is free after its release, which notifies waiting processes', async () => {
    const lock = (await takeLock(at(), 'standalone')) as Lock;
    const waiting = (await takeLock(at(), 'command')) as LockHolder;
    const [ready] = await Promise.all([waiting.untilReady, waiting.untilGone, lock.release()]);
    expect(ready).to.equal(false);
    const next = (await takeLock(at(), 'command')) as Lock;
    expect(next.held).to.equal(true);
    await next.release();
  });

  it('is free when its holder is killed', async () => {
    const script = `const { takeLock } = await import(${JSON.stringify(new URL('../../../standalone/lock.ts', import.meta.url).href)});
      await takeLock(${JSON.stringify(at())}, 'standalone'); process.stdout.write('held'); setInterval(() => {}, 1000);`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(child.stdout, 'data');
    const holder = (await takeLock(at(), 'command')) as LockHolder;
    expect(holder).to.include({ held: false, pid: child.pid });
    child.kill('SIGKILL');
    await Promise.all([holder.untilGone, once(child, 'close')]);
    const lock = (await takeLock(at(), 'command')) as Lock;
    expect(lock.held).to.equal(true);
    await lock.release();
  });
});

describe('the check of a port', () => {
  it('names the process that uses the port and the variable that changes it', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    try {
      expect(await portIsFree('127.0.0.1', port)).to.equal(false);
      expect(await whoListens(port)).to.deep.include({ pid: process.pid });
      const error = await mustBeFree('127.0.0.1', port, 'PRESSROOM_PORT').catch(
        (reason: Error) => reason,
      );
      expect((error as Error).message)
        .to.include(`Port ${port}`)
        .and.include(`process ${process.pid}`)
        .and.include('PRESSROOM_PORT');
    } finally {
      server.close();
      await once(server, 'close');
    }
    expect(await portIsFree('127.0.0.1', port)).to.equal(true);
    expect(await whoListens(port)).to.equal(undefined);
    await mustBeFree('127.0.0.1', port, 'PRESSROOM_PORT');
  });
});
