import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { expect } from 'chai';
import { renice } from '../../../../worker/browser/process-usage.ts';
import { eventually } from '../../../support/eventually.ts';
import { skip } from '../../../support/skip.ts';

const IDLE_MS = 30_000;
const GROUP = '/proc/self/autogroup';

describe('the lower priority of a Chrome', () => {
  async function groupAfter(detached: boolean): Promise<string> {
    const child = spawn(process.execPath, ['--eval', `setTimeout(() => {}, ${IDLE_MS})`], {
      detached,
      stdio: 'ignore',
    });
    await once(child, 'spawn');
    const group = () => readFileSync(`/proc/${child.pid}/autogroup`, 'utf8');
    try {
      // The kernel accepts one change per group and 100 ms.
      await eventually(() => {
        renice([child.pid!], 10);
        expect(getPriority(child.pid!)).to.equal(10);
        if (detached) expect(group()).to.match(/ nice 10\n$/);
      });
      return group();
    } finally {
      child.kill('SIGKILL');
    }
  }

  it('applies across sessions when Chrome has its own session', async function () {
    if (!existsSync(GROUP)) skip(this, 'this kernel does not share the CPU between sessions');
    expect(await groupAfter(true)).to.match(/ nice 10\n$/);
  });

  it('does not change the session of the worker', async function () {
    if (!existsSync(GROUP)) skip(this, 'this kernel does not share the CPU between sessions');
    const before = readFileSync(GROUP, 'utf8');
    expect(await groupAfter(false)).to.equal(before);
    expect(readFileSync(GROUP, 'utf8')).to.equal(before);
  });

  it('ignores a process that has exited', () => renice([2 ** 30], 10));
});
