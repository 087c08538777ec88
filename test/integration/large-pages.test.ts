import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { chmod } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { expect } from 'chai';
import { silentLog } from '../../common/log.ts';
import { type Chrome, launchChrome } from '../../worker/chrome.ts';
import { readWorkerConfig } from '../../worker/config.ts';
import { findChrome } from '../../worker/find-chrome.ts';
import { fillLargePages, holdInLargePages } from '../../worker/large-pages.ts';
import { layOutForLargePages, programOf } from '../../worker/program-layout.ts';
import { eventually } from '../support/eventually.ts';
import { largePageBytes } from '../support/processes.ts';
import { skip } from '../support/skip.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { TEST_SECRET } from '../support/worker.ts';

describe('a Chrome laid out for large pages', function () {
  this.timeout(60_000);
  const at = temporaryFolder();
  const config = readWorkerConfig({ PATH: process.env.PATH, PRESSROOM_POOL_SECRET: TEST_SECRET }).chrome;
  const path = process.env.PATH;
  let executable = '';

  before(async function () {
    const installed = await programOf(findChrome(process.env.PRESSROOM_CHROME));
    executable = at(basename(installed));
    await chmod(at(), 0o755); // Chrome runs as another user
    for (const name of readdirSync(dirname(installed)))
      if (name !== basename(installed)) symlinkSync(join(dirname(installed), name), at(name));
    await layOutForLargePages(installed, executable);
    if ((await fillLargePages(executable)) === 0) skip(this, `files in ${at()} cannot be held in large pages here`);
  });
  afterEach(() => {
    process.env.PATH = path;
  });

  async function withChrome<T>(plain: boolean, use: (chrome: Chrome) => Promise<T>): Promise<T> {
    const chrome = await launchChrome({ ...config, executable, plain }, silentLog);
    try {
      return await use(chrome);
    } finally {
      await chrome.close();
    }
  }

  const pagePid = async (chrome: Chrome) => {
    await chrome.pipe.command('Target.createTarget', { url: 'data:text/html,<h1>Large' });
    return eventually(async () => {
      const page = (await chrome.processes()).find(({ type }) => type === 'renderer');
      if (!page) throw new Error('there is no page yet');
      return page.id;
    });
  };

  it('runs its program from them, in the processes of pages too', async function () {
    if (process.getuid?.() !== 0) skip(this, "only root may look at a page's process");
    await withChrome(false, async chrome => {
      expect(largePageBytes(chrome.pid)).to.be.greaterThan(0);
      const page = await pagePid(chrome);
      await eventually(() => expect(largePageBytes(page)).to.be.greaterThan(0));
    });
  });

  it('is started all the same when filling them is given up, or cannot be understood', async () => {
    mkdirSync(at('bin'));
    const perl = (script: string) => writeFileSync(at('bin', 'perl'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    process.env.PATH = `${at('bin')}:${path}`;
    perl('echo some pages');
    expect(await holdInLargePages(executable)).to.equal(0);
    perl('exec sleep 30');
    const began = performance.now();
    expect(await holdInLargePages(executable, AbortSignal.timeout(200))).to.equal(0);
    expect(performance.now() - began).to.be.lessThan(4_000);
    for (const other of [at(), at('nothing')]) expect(await holdInLargePages(other)).to.equal(0);
  });

  it('prints where nobody can fill them', async () => {
    process.env.PATH = '/nowhere';
    expect(await holdInLargePages(executable)).to.equal(0);
    await withChrome(false, async chrome => {
      const { targetId } = await chrome.pipe.command<{ targetId: string }>('Target.createTarget', { url: 'data:text/html,<h1>Small' });
      const { sessionId } = await chrome.pipe.command<{ sessionId: string }>('Target.attachToTarget', { targetId, flatten: true });
      const { data } = await chrome.pipe.command<{ data: string }>('Page.printToPDF', {}, sessionId);
      expect(Buffer.from(data, 'base64').subarray(0, 5).toString()).to.equal('%PDF-');
    });
  });
});
