// A worker whose first Chrome does not start: it exits, its last log line has the cause, and
// nothing of it remains.
import { execFileSync } from 'node:child_process';
import { chmodSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { silentLog } from '../../common/log.ts';
import { launchChrome } from '../../worker/browser/chrome.ts';
import { findChrome } from '../../worker/browser/find-chrome.ts';
import { readWorkerConfig } from '../../worker/config.ts';
import { eventually } from '../support/eventually.ts';
import { skip } from '../support/skip.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { errorOf } from '../support/worker.ts';
import { ownPort } from './harness/ports.ts';
import { type PressroomProcess, startPressroom } from './harness/pressroom-process.ts';

/** Identifies the sleeping process of these tests. */
const SLEEP_S = `${98_700_000 + process.pid}`;
const sleepers = (): string[] =>
  readdirSync('/proc').filter(pid => {
    try {
      return (
        /^\d+$/.test(pid) &&
        readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(`sleep\0${SLEEP_S}`)
      );
    } catch {
      return false;
    }
  });

describe('a worker whose first Chrome does not start', () => {
  const file = temporaryFolder();
  let worker: PressroomProcess | undefined;

  before(() => chmodSync(file(), 0o777)); // Chrome runs as another user
  afterEach(async () => {
    await worker?.kill();
    expect(readdirSync(file()).filter(name => name.startsWith('pressroom-chrome-'))).to.deep.equal(
      [],
    );
    await eventually(() => expect(sleepers()).to.deep.equal([]));
  });

  /** A script that replaces Chrome. */
  function fakeChrome(name: string, ...lines: string[]): string {
    writeFileSync(file(name), ['#!/bin/sh', ...lines, ''].join('\n'), { mode: 0o755 });
    return file(name);
  }

  async function start(chrome: string): Promise<PressroomProcess> {
    worker = startPressroom('worker', 'worker', await ownPort(), {
      PRESSROOM_POOL_SECRET: 'a pool secret of the scenarios',
      PRESSROOM_GATEWAY_HOST: '127.0.0.1',
      PRESSROOM_GATEWAY_PORT: '0',
      PRESSROOM_CHROME: chrome,
      PRESSROOM_SLOTS: '2',
      TMPDIR: file(),
    });
    return worker;
  }

  async function startErrorOf(process: PressroomProcess): Promise<string> {
    expect(await process.exited).to.equal(1);
    const { msg, err } = process.log.at(-1)!;
    expect(msg).to.equal('could not start');
    return (err as Error).message;
  }

  it('exits with Chrome’s output when Chrome exits at once', async () => {
    const chrome = fakeChrome(
      'ends',
      'echo "cannot open shared object file: libnss3.so" >&2',
      'exit 127',
    );
    expect(await startErrorOf(await start(chrome))).to.equal(
      `chrome did not start: ${chrome} exited while starting: exit code 127. Last output: cannot open shared object file: libnss3.so`,
    );
  });

  it('exits and names the variable when the executable is missing', async () => {
    expect(await startErrorOf(await start(file('nothing')))).to.equal(
      `chrome did not start: PRESSROOM_CHROME=${file('nothing')} does not exist or is not executable`,
    );
  });

  it('exits with instructions when Chrome has no sandbox', async function () {
    if (process.getuid?.() !== 0)
      return skip(this, 'only root can start Chrome without user namespaces');
    // In its own namespace no other can be created, and the set-uid helper cannot become root.
    const enter = 'unshare --user --map-current-user --keep-caps';
    const forbid = 'echo 0 > /proc/sys/user/max_user_namespaces';
    const becomeChrome = `exec setpriv --no-new-privs --ambient-caps -all --inh-caps -all ${findChrome(process.env.PRESSROOM_CHROME)} "$@"`;
    try {
      execFileSync(
        'setpriv',
        ['--reuid', '64117', '--clear-groups', 'sh', '-c', `${enter} sh -c '${forbid}'`],
        { stdio: 'ignore' },
      );
    } catch {
      return skip(this, 'unshare or setpriv is missing, or user namespaces are not allowed');
    }
    const chrome = fakeChrome(
      'unboxed',
      `exec ${enter} sh -c '${forbid} && ${becomeChrome}' sh "$@"`,
    );
    const message = await startErrorOf(await start(chrome));
    expect(message).to.match(
      /^chrome did not start: Chrome cannot use its sandbox on this system\. Do one of the following: allow user namespaces/,
    );
    expect(message).to.include('set PRESSROOM_CHROME_SANDBOX=off');
  });

  it('is alive but not ready while Chrome hangs at its start, and stops on SIGTERM', async () => {
    const hanging = await start(fakeChrome('hangs', `sleep ${SLEEP_S}`));
    await eventually(() => expect(sleepers()).to.have.length(1));
    expect(await hanging.probe('/livez')).to.equal(200);
    expect(await hanging.probe('/readyz')).to.equal(503);
    const startMs = performance.now();
    expect(await hanging.kill('SIGTERM')).to.equal(0);
    // Without the signal it would wait 20 s for Chrome.
    expect(performance.now() - startMs).to.be.lessThan(15_000);
  });

  it('is ready with one slot while the Chrome of another fails and is retried', async () => {
    const fails = `[ -e ${file('broken')} ] && exit 3; touch ${file('broken')}`;
    const started = await start(
      fakeChrome('once', fails, `exec ${findChrome(process.env.PRESSROOM_CHROME)} "$@"`),
    );
    await started.untilReady();
    expect(await started.logLine('chrome could not be started')).to.include({ slot: 2 });
    expect(await started.probe('/readyz')).to.equal(200);
    rmSync(file('broken'));
    expect(await started.logLine('chrome is up', line => line['slot'] === 2)).to.include({
      slot: 2,
    });
    await eventually(async () =>
      expect((await started.metrics()).sum('pressroom_slots', { state: 'ready' })).to.equal(2),
    );
    expect(await started.kill('SIGTERM')).to.equal(0);
  });

  it('kills a Chrome that hangs at its start, with all its processes', async () => {
    const config = readWorkerConfig({ PRESSROOM_POOL_SECRET: 'a pool secret of the scenarios' });
    const executable = fakeChrome('hangs', `sleep ${SLEEP_S}`);
    const error = await errorOf(
      launchChrome({ ...config.chrome, executable, startTimeoutMs: 500 }, silentLog),
    );
    expect(error?.message).to.equal(`${executable} did not respond within 0.5 s after its start`);
  });
});
