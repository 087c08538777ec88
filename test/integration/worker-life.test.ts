import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { silentLog } from '../../common/log.ts';
import { launchChrome, NoSandbox } from '../../worker/chrome.ts';
import { readWorkerConfig } from '../../worker/config.ts';
import { findChrome, findOnPath } from '../../worker/find-chrome.ts';
import { eventually } from '../support/eventually.ts';
import { SCHED_BATCH, treeOf } from '../support/processes.ts';
import { skip } from '../support/skip.ts';
import { errorOf, evaluate, startWorker, TEST_SECRET } from '../support/worker.ts';

describe('a worker’s life', () => {
  it('replaces a Chrome after so many renders while others run on in the old one', async () => {
    const worker = await startWorker({ PRESSROOM_CHROME_RECYCLE_RENDERS: '3' });
    try {
      const long = await worker.open();
      await worker.until({ busy: 1, ready: 1 });
      for (let i = 0; i < 4; i++) {
        (await worker.open()).close();
        await worker.until({ busy: 1, ready: 1 });
      }
      await eventually(async () => expect(await worker.metrics.text()).to.include('pressroom_chrome_starts_total{reason="recycle"} 1'));
      expect(worker.worker.status().chrome).to.equal('up');
      expect(await evaluate(long, '5 * 5')).to.equal(25);
      long.close();
      await worker.until({ busy: 0, ready: 2 });
      (await worker.open()).close();
    } finally {
      await worker.stop();
    }
  });

  it('ends the old Chrome after a replacement, also when nothing ran in it', async () => {
    const worker = await startWorker({ PRESSROOM_CHROME_RECYCLE_RENDERS: '1' });
    try {
      for (let i = 1; i <= 3; i++) {
        await worker.until({ ready: 2 });
        (await worker.open()).close();
        await eventually(async () =>
          expect(await worker.metrics.text()).to.include(`pressroom_chrome_starts_total{reason="recycle"} ${i}`),
        );
        await eventually(() => expect(worker.worker.chromes()).to.have.length(1));
      }
    } finally {
      await worker.stop();
    }
  });

  it('has a Chrome again when the old one dies while the new one comes up', async () => {
    const worker = await startWorker({ PRESSROOM_CHROME_RECYCLE_RENDERS: '1' });
    try {
      const [old] = worker.worker.chromes();
      await worker.until({ ready: 2 });
      (await worker.open()).close();
      await eventually(() => expect(worker.worker.chromes().length).to.be.greaterThan(1));
      old!.kill();
      await eventually(() => expect(worker.worker.chromes()).to.not.include(old));
      await worker.until({ chrome: 'up', ready: 2 });
      expect(worker.worker.chromes()).to.have.length(1);
      const session = await worker.open();
      expect(await evaluate(session, '1 + 1')).to.equal(2);
      session.close();
    } finally {
      await worker.stop();
    }
  });

  it('drains: takes no new render, finishes what runs, then ends clean', async () => {
    const worker = await startWorker();
    const session = await worker.open();
    const stopped = worker.stop();
    await worker.until({ draining: true });
    expect(await errorOf(worker.open())).to.include({ name: 'SlotRefused' });
    expect(await evaluate(session, '7 * 7')).to.equal(49);
    session.close();
    expect(await stopped).to.equal(true);
    expect(readdirSync(tmpdir()).filter(name => name.startsWith(`pressroom-chrome-${process.pid}-`))).to.deep.equal([]);
  });

  it('ends what still runs when the grace is over, and says that it stops', async () => {
    const worker = await startWorker();
    const session = await worker.open();
    const hurry = new AbortController();
    const gateway = worker.worker.services.at(-1)!;
    const stopped = gateway.stop(hurry.signal);
    hurry.abort();
    expect(await session.ended).to.include({ reason: 'worker_stopping' });
    await stopped;
    await worker.stop();
  });

  it('removes the profiles that a killed worker left', async () => {
    const gone = execFileSync('sh', ['-c', 'echo $$'], { encoding: 'utf8' }).trim();
    const left = mkdtempSync(join(tmpdir(), `pressroom-chrome-${gone}-`));
    writeFileSync(join(left, 'file'), 'x');
    const worker = await startWorker();
    await worker.stop();
    expect(readdirSync(tmpdir())).to.not.include(left.split('/').at(-1));
  });

  it('does not start without a sandbox unless told to', async function () {
    if (process.getuid?.() !== 0) return skip(this, 'only root can show a Chrome that has no sandbox');
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
    const config = readWorkerConfig({ PATH: process.env.PATH, PRESSROOM_POOL_SECRET: TEST_SECRET }).chrome;
    const executable = findChrome(process.env.PRESSROOM_CHROME);
    const path = process.env.PATH;
    afterEach(() => {
      process.env.PATH = path;
    });

    /** How its processes are scheduled, a page's among them. */
    async function policies(): Promise<Set<number>> {
      const chrome = await launchChrome({ ...config, executable }, silentLog);
      try {
        await chrome.pipe.command('Target.createTarget', { url: 'about:blank' });
        await eventually(async () => expect((await chrome.processes()).map(({ type }) => type)).to.include('renderer'));
        return new Set(treeOf(chrome.pid).map(({ policy }) => policy));
      } finally {
        await chrome.close();
      }
    }

    it('takes no core from others when it wakes, with all of its processes', async () => {
      expect([...(await policies())]).to.deep.equal([SCHED_BATCH]);
    });

    it('starts with the default policy where batch scheduling is not available', async () => {
      process.env.PATH = '/nowhere';
      expect([...(await policies())]).to.deep.equal([0]);
    });
  });

  it('refuses a full browser, which lets WebRTC past the guard', async function () {
    const full = findOnPath(['chromium', 'google-chrome-stable', 'google-chrome'], process.env);
    if (!full) return skip(this, 'no full browser is installed here');
    const error = await errorOf(startWorker({ PRESSROOM_CHROME: full }));
    expect(error?.message).to.match(/full browser \(Chrome\/.*chromium-headless-shell/);
  });

  it('says which Chrome it did not find', async () => {
    const error = await errorOf(startWorker({ PRESSROOM_CHROME: '/no/such/chrome' }));
    expect(error?.message).to.include('PRESSROOM_CHROME=/no/such/chrome');
  });
});
