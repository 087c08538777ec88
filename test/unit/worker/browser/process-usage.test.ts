import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { expect } from 'chai';
import { renice } from '../../../../worker/browser/process-usage.ts';
import { eventually } from '../../../support/eventually.ts';
import { skip } from '../../../support/skip.ts';

const IDLE_MS = 30_000;

describe('the lower priority of a Chrome', () => {
  it('counts against other sessions, too', async function () {
    if (!existsSync('/proc/self/autogroup'))
      skip(this, 'this kernel shares the CPU out by no sessions');
    const child = spawn(process.execPath, ['--eval', `setTimeout(() => {}, ${IDLE_MS})`], {
      detached: true,
      stdio: 'ignore',
    });
    await once(child, 'spawn');
    try {
      // The kernel takes one change in a tenth of a second, from whomever it is.
      await eventually(() => {
        renice([child.pid!], 10);
        expect(getPriority(child.pid!)).to.equal(10);
        expect(readFileSync(`/proc/${child.pid}/autogroup`, 'utf8')).to.match(/ nice 10\n$/);
      });
    } finally {
      child.kill('SIGKILL');
    }
  });

  it('is none when the process is gone', () => renice([2 ** 30], 10));
});
