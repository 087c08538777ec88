import { chmodSync, rmSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { findChrome } from '../../../worker/browser/find-chrome.ts';
import { readSamples } from '../../fault/harness/samples.ts';
import { eventually } from '../../support/eventually.ts';
import { freeze } from '../../support/freeze.ts';
import { temporaryFolder } from '../../support/temporary.ts';
import { errorOf, evaluate, startWorker, type TestWorker } from '../../support/worker.ts';

const DEATHS = 'pressroom_chrome_deaths_total';

/** Fills the browser process, which stores blobs, and keeps the renderer process small. */
const FILL_BROWSER = `(async () => {
  globalThis.kept = [];
  for (let i = 0; i < 200; i++) {
    kept.push(new Blob([new Uint8Array(4 << 20).fill(i)]));
    await new Promise(resolve => setTimeout(resolve, 5));
  }
})()`;

describe('worker metrics', () => {
  const file = temporaryFolder();
  let worker: TestWorker | undefined;
  afterEach(async () => {
    await worker?.stop();
    worker = undefined;
  });

  const scrape = async () => readSamples(await worker!.metrics.text());
  const deaths = async () => (await scrape()).by(DEATHS, 'reason');
  /** The reasons with at least one death. */
  const causes = async () =>
    Object.entries(await deaths())
      .filter(([, times]) => times > 0)
      .map(([reason]) => reason);

  it('shows slots, capacity and Chrome processes', async () => {
    worker = await startWorker({ PRESSROOM_SLOTS: '3' });
    await worker.until({ ready: 3 });
    const session = await worker.open();
    const samples = await scrape();
    expect(samples.sum('pressroom_slots_capacity', { pool: 'default' })).to.equal(3);
    expect(samples.sum('pressroom_slots', { pool: 'default', state: 'claimed' })).to.equal(1);
    expect(samples.sum('pressroom_slots_running_seconds', { pool: 'default' })).to.be.above(0);
    expect(samples.by('pressroom_chromes', 'state')).to.deep.equal({ serving: 3, retiring: 0 });
    const memory = samples.by('pressroom_chrome_memory_bytes', 'slot');
    expect(memory).to.have.all.keys('1', '2', '3');
    expect(Math.min(...Object.values(memory))).to.be.greaterThan(2 ** 20);
    session.close();
  });

  it('shows that the worker is draining', async () => {
    worker = await startWorker();
    const session = await worker.open();
    expect((await scrape()).sum('pressroom_worker_draining', { pool: 'default' })).to.equal(0);
    const stopped = worker.stop();
    await worker.until({ draining: true });
    expect((await scrape()).sum('pressroom_worker_draining', { pool: 'default' })).to.equal(1);
    session.close();
    await stopped;
    expect(await causes()).to.deep.equal([]);
  });

  it('counts rejected connections by reason', async () => {
    worker = await startWorker({ PRESSROOM_SLOTS: '1' });
    await errorOf(worker.open({ pool: 'another' }));
    await worker.until({ ready: 1 });
    const session = await worker.open();
    await errorOf(worker.open());
    const rejected = Object.entries(
      (await scrape()).by('pressroom_gateway_refused_total', 'reason'),
    ).filter(([, times]) => times > 0);
    expect(rejected).to.deep.equal([
      ['full', 1],
      ['pool', 1],
    ]);
    session.close();
  });

  it('counts slots that the worker ended by reason', async () => {
    worker = await startWorker();
    // It may end before the socket is open on a busy machine.
    await worker.open({ maxMs: 100 }).then(
      ({ ended }) => ended,
      () => undefined,
    );
    await eventually(async () => {
      const ofDeadline = { pool: 'default', reason: 'deadline' };
      expect((await scrape()).sum('pressroom_slot_ends_total', ofDeadline)).to.equal(1);
    });
  });

  it('counts a killed Chrome and its replacement', async () => {
    worker = await startWorker();
    process.kill(worker.worker.chromes()[0]!.pid, 'SIGKILL');
    await eventually(async () =>
      expect((await scrape()).sum('pressroom_chrome_starts_total', { reason: 'died' })).to.equal(1),
    );
    await worker.until({ chrome: 'up' });
    expect(await deaths()).to.deep.equal({
      exited: 1,
      hung: 0,
      unusable: 0,
      memory: 0,
      flooded: 0,
      not_started: 0,
    });
  });

  it('counts a hung Chrome', async () => {
    worker = await startWorker({ PRESSROOM_CHROME_PROBE_INTERVAL: '2s' });
    await freeze(worker.worker.chromes()[0]!.pid);
    await eventually(async () => expect(await causes()).to.deep.equal(['hung']));
  });

  it('counts a Chrome over the memory limit', async () => {
    worker = await startWorker({
      PRESSROOM_RENDER_MEMORY: '256MiB',
      PRESSROOM_CHROME_PROBE_INTERVAL: '60s',
    });
    const session = await worker.open();
    evaluate(session, FILL_BROWSER).catch(() => {}); // the page ends with its Chrome
    expect(await session.ended).to.include({ reason: 'memory' });
    expect(await causes()).to.deep.equal(['memory']);
  });

  const brokenBy: Record<string, (script: string) => void> = {
    'exits immediately': script => writeFileSync(script, '#!/bin/sh\nexit 1\n'),
    'is missing': script => rmSync(script),
  };
  for (const [what, breakScript] of Object.entries(brokenBy))
    it(`counts failed starts of a Chrome that ${what}`, async () => {
      const script = file('chrome');
      const write = () =>
        writeFileSync(
          script,
          `#!/bin/sh\nexec ${findChrome(process.env.PRESSROOM_CHROME)} "$@"\n`,
          { mode: 0o755 },
        );
      chmodSync(file(), 0o755); // Chrome runs as another user
      write();
      worker = await startWorker({ PRESSROOM_CHROME: script, PRESSROOM_SLOTS: '1' });
      breakScript(script);
      process.kill(worker.worker.chromes()[0]!.pid, 'SIGKILL');
      await eventually(async () => expect((await deaths())['not_started']).to.be.at.least(2));
      expect((await scrape()).sum('pressroom_chrome_starts_total')).to.equal(1);
      expect((await scrape()).sum('pressroom_chromes')).to.equal(0);
      write();
      await worker.until({ chrome: 'up' });
      expect((await scrape()).by('pressroom_chrome_starts_total', 'reason')).to.include({
        first: 1,
        died: 1,
      });
    });
});
