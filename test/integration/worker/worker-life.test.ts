import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { silentLog } from '../../../common/log.ts';
import { launchChrome, NoSandbox } from '../../../worker/browser/chrome.ts';
import { findChrome, findOnPath } from '../../../worker/browser/find-chrome.ts';
import { readWorkerConfig } from '../../../worker/config.ts';
import { readSamples } from '../../fault/harness/samples.ts';
import { eventually } from '../../support/eventually.ts';
import { SCHED_BATCH, treeOf } from '../../support/processes.ts';
import { skip } from '../../support/skip.ts';
import {
  errorOf,
  evaluate,
  startWorker,
  TEST_SECRET,
  type TestWorker,
} from '../../support/worker.ts';

describe('the life of a worker', () => {
  const starts = async (reason: string) =>
    readSamples(await worker.metrics.text()).sum('pressroom_chrome_starts_total', { reason });
  let worker: TestWorker;
  afterEach(() => worker?.stop());

  it('runs a separate Chrome for each slot', async () => {
    worker = await startWorker({ PRESSROOM_SLOTS: '3' });
    await worker.until({ ready: 3 });
    expect(new Set(worker.worker.chromes().map(({ pid }) => pid)).size).to.equal(3);
    expect(await starts('first')).to.equal(3);
  });

  it('replaces the Chrome of a slot after its render limit while another slot serves', async () => {
    worker = await startWorker({ PRESSROOM_CHROME_RECYCLE_RENDERS: '3' });
    await worker.until({ ready: 2 });
    const long = await worker.open();
    for (let i = 0; i < 7; i++) {
      await worker.until({ busy: 1, ready: 1 });
      (await worker.open()).close();
    }
    await eventually(async () => expect(await starts('recycle')).to.equal(2));
    expect(await evaluate(long, '5 * 5')).to.equal(25);
    long.close();
    await worker.until({ busy: 0, ready: 2 });
    expect(worker.worker.chromes()).to.have.length(2);
  });

  it('replaces the Chrome of a slot after an aborted render', async () => {
    worker = await startWorker({ PRESSROOM_SLOTS: '1' });
    await worker.until({ ready: 1 });
    const [before] = worker.worker.chromes();
    const session = await worker.open();
    session.command('Runtime.evaluate', { expression: 'for (;;);' }).catch(() => {});
    await session.abandon();
    await worker.until({ ready: 1 });
    expect(worker.worker.chromes()).to.have.length(1).and.not.include(before);
    expect(await starts('bound')).to.equal(1);
  });

  it('restarts the Chrome of one slot when it dies, without affecting other slots', async () => {
    worker = await startWorker({ PRESSROOM_SLOTS: '3' });
    await worker.until({ ready: 3 });
    const session = await worker.open();
    const [, killed, third] = worker.worker.chromes();
    killed!.kill();
    await eventually(async () => expect(await starts('died')).to.equal(1));
    await worker.until({ chrome: 'up', ready: 2, busy: 1 });
    expect(worker.worker.chromes()).to.include(third).and.not.include(killed);
    expect(await evaluate(session, '1 + 1')).to.equal(2);
    session.close();
  });

  it('replaces a Chrome that has grown, after the render', async () => {
    worker = await startWorker({ PRESSROOM_SLOTS: '1', PRESSROOM_CHROME_RECYCLE_MEMORY: '16MiB' });
    await worker.until({ ready: 1 });
    (await worker.open()).close();
    await worker.until({ ready: 1 });
    expect(await starts('recycle')).to.equal(0);
    const session = await worker.open();
    // Blobs are stored in the browser process.
    await evaluate(
      session,
      'window.kept = Array.from({ length: 20 }, (_, i) => new Blob([new Uint8Array(4 << 20).fill(i)])); 1',
    );
    await evaluate(
      session,
      'Promise.all(kept.map(blob => blob.slice(0, 1).arrayBuffer())).then(() => 1)',
    );
    session.close();
    await eventually(async () => expect(await starts('recycle')).to.equal(1));
    await worker.until({ ready: 1 });
  });

  it('replaces the Chrome of a slot whose page exceeded its event budget', async () => {
    worker = await startWorker({ PRESSROOM_SLOTS: '1' });
    await worker.until({ ready: 1 });
    const session = await worker.open();
    await session.command('Runtime.enable');
    // Time stands still: on a busy machine Chrome sends fewer events per second than are allowed.
    const [atMs, now] = [performance.now(), performance.now];
    performance.now = () => atMs;
    try {
      await evaluate(session, 'for (let i = 0; i < 20_500; i++) console.log(i); 1');
    } finally {
      performance.now = now;
    }
    expect(worker.worker.chromes()[0]!.pipe.overBudget()).to.equal(true);
    session.close();
    await eventually(async () => expect(await starts('bound')).to.equal(1));
    await worker.until({ ready: 1 });
  });

  it('renders for only one account in a Chrome if configured', async () => {
    worker = await startWorker({ PRESSROOM_SLOTS: '1', PRESSROOM_CHROME_PER_ACCOUNT: 'on' });
    const renderFor = async (account?: string) => {
      await worker.until({ ready: 1 });
      (await worker.open(account === undefined ? {} : { account })).close();
      await worker.until({ ready: 1 });
      return worker.worker.chromes()[0]!;
    };
    const first = await renderFor('a');
    expect(await renderFor('a')).to.equal(first);
    expect(await errorOf(worker.open({ account: 'b' }))).to.include({ name: 'SlotRejected' });
    await eventually(async () => expect(await starts('account')).to.equal(1));
    const second = await renderFor('b');
    expect(second).to.not.equal(first);
    // An API of the previous release sends no account, so the next render may be for another
    // account.
    expect(await errorOf(worker.open())).to.include({ name: 'SlotRejected' });
    await eventually(async () => expect(await starts('account')).to.equal(2));
    await renderFor();
    expect(await errorOf(worker.open())).to.include({ name: 'SlotRejected' });
    await eventually(async () => expect(await starts('account')).to.equal(3));
  });

  it('restarts one Chrome for repeated claims of another account', async () => {
    worker = await startWorker({ PRESSROOM_SLOTS: '3', PRESSROOM_CHROME_PER_ACCOUNT: 'on' });
    await worker.until({ ready: 3 });
    for (const session of await Promise.all(
      ['a', 'a', 'a'].map(account => worker.open({ account })),
    ))
      session.close();
    await worker.until({ ready: 3 });
    for (let claims = 0; claims < 3; claims++)
      expect(await errorOf(worker.open({ account: 'b' }))).to.include({ name: 'SlotRejected' });
    await worker.until({ ready: 3 });
    (await worker.open({ account: 'b' })).close();
    expect(await starts('account')).to.equal(1);
  });

  it('drains: rejects new renders, finishes running ones, then exits cleanly', async () => {
    worker = await startWorker();
    const session = await worker.open();
    const stopped = worker.stop();
    await worker.until({ draining: true });
    expect(await errorOf(worker.open())).to.include({ name: 'SlotRejected' });
    expect(await evaluate(session, '7 * 7')).to.equal(49);
    session.close();
    expect(await stopped).to.equal(true);
    expect(
      readdirSync(tmpdir()).filter(name => name.startsWith(`pressroom-chrome-${process.pid}-`)),
    ).to.deep.equal([]);
  });

  it('ends running renders after the grace period, with worker_stopping as the reason', async () => {
    worker = await startWorker();
    const session = await worker.open();
    const deadline = new AbortController();
    const gateway = worker.worker.services.at(-1)!;
    const stopped = gateway.stop(deadline.signal);
    deadline.abort();
    expect(await session.ended).to.include({ reason: 'worker_stopping' });
    await stopped;
    await worker.stop();
  });

  it('removes the profiles of a killed worker', async () => {
    const gone = execFileSync('sh', ['-c', 'echo $$'], { encoding: 'utf8' }).trim();
    const left = mkdtempSync(join(tmpdir(), `pressroom-chrome-${gone}-`));
    writeFileSync(join(left, 'file'), 'x');
    worker = await startWorker();
    await worker.stop();
    expect(readdirSync(tmpdir())).to.not.include(left.split('/').at(-1));
  });

  it('does not start without a sandbox unless configured', async function () {
    if (process.getuid?.() !== 0)
      return skip(this, 'only root can show a Chrome that has no sandbox');
    const config = readWorkerConfig({ PATH: process.env.PATH, PRESSROOM_POOL_SECRET: TEST_SECRET });
    const executable = findChrome(process.env.PRESSROOM_CHROME);
    const asRoot = { ...config.chrome, executable, uid: undefined };
    const error = await errorOf(launchChrome(asRoot, silentLog));
    expect(error).to.be.instanceOf(NoSandbox);
    expect(error!.message).to.include('PRESSROOM_CHROME_SANDBOX=off');
    const chrome = await launchChrome({ ...asRoot, sandbox: false }, silentLog);
    await chrome.close();
  });

  describe('its Chrome', () => {
    const config = readWorkerConfig({
      PATH: process.env.PATH,
      PRESSROOM_POOL_SECRET: TEST_SECRET,
    }).chrome;
    const executable = findChrome(process.env.PRESSROOM_CHROME);
    const path = process.env.PATH;
    afterEach(() => {
      process.env.PATH = path;
    });

    /** The scheduling policies of its processes, including those of pages. */
    async function policies(): Promise<Set<number>> {
      const chrome = await launchChrome({ ...config, executable }, silentLog);
      try {
        await chrome.pipe.command('Target.createTarget', { url: 'about:blank' });
        await eventually(async () =>
          expect(chrome.processes().map(({ type }) => type)).to.include('renderer'),
        );
        return new Set(treeOf(chrome.pid).map(({ policy }) => policy));
      } finally {
        await chrome.close();
      }
    }

    it('uses batch scheduling for all of its processes', async () => {
      expect([...(await policies())]).to.deep.equal([SCHED_BATCH]);
    });

    it('has its processes listed even while it does not answer', async () => {
      const chrome = await launchChrome({ ...config, executable }, silentLog);
      try {
        const types = () => chrome.processes(0).map(({ type }) => type);
        // Processes start on their own; a child of the zygote is a zygote at first.
        const started = ['browser', 'zygote', 'gpu-process', 'network.mojom.NetworkService'];
        await eventually(() => expect(types()).to.include.members(started));
        process.kill(chrome.pid, 'SIGSTOP');
        expect(types()).to.include.members(started);
      } finally {
        process.kill(chrome.pid, 'SIGCONT');
        await chrome.close();
      }
    });

    it('starts with the default policy where batch scheduling is not available', async () => {
      process.env.PATH = '/nowhere';
      expect([...(await policies())]).to.deep.equal([0]);
    });
  });

  it('rejects a full browser, whose WebRTC bypasses the guard', async function () {
    const full = findOnPath(['chromium', 'google-chrome-stable', 'google-chrome'], process.env);
    if (!full) return skip(this, 'no full browser is installed');
    const error = await errorOf(startWorker({ PRESSROOM_CHROME: full }));
    expect(error?.message).to.match(/full browser \(Chrome\/.*chromium-headless-shell/);
  });

  it('names a configured Chrome that does not exist', async () => {
    const error = await errorOf(startWorker({ PRESSROOM_CHROME: '/no/such/chrome' }));
    expect(error?.message).to.include('PRESSROOM_CHROME=/no/such/chrome');
  });
});
