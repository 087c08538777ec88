import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { chmod, cp, readFile, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { expect } from 'chai';
import { silentLog } from '../../common/log.ts';
import { findChrome, prepareChrome } from '../../standalone/chrome.ts';
import { createLargePages, LARGE_PAGES } from '../../standalone/chrome-large-pages.ts';
import { answersWithin } from '../../worker/cdp-pipe.ts';
import { type Chrome, killQuietly, launchChrome } from '../../worker/chrome.ts';
import { readWorkerConfig } from '../../worker/config.ts';
import { fillLargePages, holdInLargePages } from '../../worker/large-pages.ts';
import { layoutOf, programOf } from '../../worker/program-layout.ts';
import { eventually } from '../support/eventually.ts';
import { largePageBytes } from '../support/processes.ts';
import { skip } from '../support/skip.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { TEST_SECRET } from '../support/worker.ts';

describe('a Chrome laid out for large pages', () => {
  const at = temporaryFolder();
  const config = readWorkerConfig({ PATH: process.env.PATH, PRESSROOM_POOL_SECRET: TEST_SECRET }).chrome;
  const path = process.env.PATH;
  let executable = '';

  before(async function () {
    await chmod(at(), 0o755); // Chrome runs as another user
    await writeFile(at('probe'), Buffer.alloc(2 ** 21, 1), { flush: true });
    if ((await fillLargePages(at('probe'))) === 0) skip(this, `files in ${at()} cannot be held in large pages here`);
    const installed = await findChrome({ ...process.env, PRESSROOM_CHROME: undefined });
    if (installed === undefined || (await layoutOf(await programOf(installed))) !== 'small')
      skip(this, 'there is no Chrome here but the one that PRESSROOM_CHROME names');
    const find = await prepareChrome({ PATH: dirname(installed), PRESSROOM_CACHE_DIR: at('cache') }, () => {}, config);
    executable = await find();
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

  /** How what a page is printed to begins. */
  const printed = async ({ pipe: { command } }: Chrome) => {
    const { targetId } = await command<{ targetId: string }>('Target.createTarget', { url: 'data:text/html,<h1>Printed' });
    const { sessionId } = await command<{ sessionId: string }>('Target.attachToTarget', { targetId, flatten: true });
    const { data } = await command<{ data: string }>('Page.printToPDF', {}, sessionId);
    return Buffer.from(data, 'base64').subarray(0, 5).toString();
  };

  const pagePid = async (chrome: Chrome) => {
    await chrome.pipe.command('Target.createTarget', { url: 'data:text/html,<h1>Large' });
    return eventually(async () => {
      const page = (await chrome.processes()).find(({ type }) => type === 'renderer');
      if (!page) throw new Error('there is no page yet');
      return page.id;
    });
  };

  it('is a copy of the one that was found, but for one that is named', async () => {
    expect(dirname(dirname(executable))).to.equal(at('cache'));
    expect(await layoutOf(executable)).to.equal('large');
    const env = { PRESSROOM_CHROME: '/bin/true', PRESSROOM_CACHE_DIR: at('cache') };
    expect(await (await prepareChrome(env, () => {}, config))()).to.equal('/bin/true');
  });

  it('lives on when its copy is taken away after an upgrade, with the processes that it starts then', async () => {
    const find = createLargePages({ cache: at('cache'), say: () => {}, prove: async () => {} });
    // As if Chrome had been upgraded since this copy was made.
    const old = at('cache', `${LARGE_PAGES}old`);
    await cp(dirname(executable), old, { recursive: true, verbatimSymlinks: true });
    const madeOf = JSON.parse(await readFile(join(old, 'made-of.json'), 'utf8'));
    await writeFile(join(old, 'made-of.json'), JSON.stringify({ ...madeOf, origin: { ...madeOf.origin, mtimeMs: 1 } }));
    const chrome = await launchChrome({ ...config, executable: join(old, basename(executable)) }, silentLog);
    try {
      expect(await find(madeOf.origin.program)).to.equal(executable);
      expect(readdirSync(old)).to.not.include(basename(executable));
      const network = async () => (await chrome.processes()).find(({ type }) => type === 'network.mojom.NetworkService')?.id;
      await chrome.pipe.command('Storage.getCookies');
      const first = await network();
      for (const { type, id } of await chrome.processes()) if (type === 'GPU' || id === first) killQuietly(id);
      await eventually(async () => {
        // One that is asked for while the process goes is never answered.
        expect(await answersWithin(1_000, chrome.pipe.command('Storage.getCookies'))).to.equal(true);
        expect(await network())
          .to.be.a('number')
          .and.not.equal(first);
      });
      expect(await printed(chrome)).to.equal('%PDF-');
    } finally {
      await chrome.close();
    }
  });

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
    await withChrome(false, async chrome => expect(await printed(chrome)).to.equal('%PDF-'));
  });
});
