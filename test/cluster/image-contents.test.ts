import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { runCommand } from '../../standalone/run-command.ts';
import { skip } from '../support/skip.ts';
import { productImages, TARGETS, type Target } from './built-product.ts';
import { type Images, whyNoImages } from './image-build.ts';

const MINUTE_MS = 60_000;
const CJK = 'usr/share/fonts/opentype/noto';

/** The files in a folder and its subfolders, except those that each shell reads. */
const filesIn = (folder: string) =>
  existsSync(folder)
    ? readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter(entry => entry.isFile() && !/^\.(bashrc|profile)$/.test(entry.name))
        .map(entry => join(entry.parentPath, entry.name))
    : [];

describe('the contents of container images', function () {
  this.timeout(10 * MINUTE_MS);
  let built: Images<Target>;
  const path = (name: string, file: string) => join(built.images[name as Target].root, file);

  before(async function () {
    this.timeout(25 * MINUTE_MS);
    const why = await whyNoImages(console.log);
    if (why !== undefined) skip(this, why);
    built = await productImages();
    await built.addVariant('worker-no-cjk', 'worker', { FONTS: 'no-cjk' });
    const { bytes } = built.images['worker-no-cjk' as Target];
    console.log(`    Without fonts for CJK: worker ${Math.round(bytes / 1e6)} MB.`);
  });

  for (const target of TARGETS) {
    it(`include no program that runs with the rights of its owner: ${target}`, async () => {
      // A program that has a setuid bit in Debian.
      expect(existsSync(path(target, 'usr/bin/mount'))).to.equal(true);
      const setuid = ['-xdev', '-type', 'f', '-perm', '/6000'];
      const options = { timeoutMs: MINUTE_MS };
      const { ok, stdout } = await runCommand('find', [path(target, '.'), ...setuid], options);
      expect(ok).to.equal(true);
      expect(stdout).to.equal('');
    });

    it(`include no downloaded packages and no temporary files: ${target}`, () => {
      for (const folder of ['var/cache/apt', 'var/cache/npm', 'root', 'tmp'])
        expect(filesIn(path(target, folder)), folder).to.deep.equal([]);
    });
  }

  it('are those that headless Chrome uses: no LLVM, OpenGL or programs of a desktop', () => {
    const status = readFileSync(path('worker', 'var/lib/dpkg/status'), 'utf8');
    const packages = [...status.matchAll(/^Package: (.*)$/gm)].map(([, name]) => name!);
    expect(packages).to.include.members(['chromium-headless-shell', 'libnss3-tools', 'tini']);
    const unused = /llvm|mesa|^x11-|^xdg-|^libgl\d|^libglx|^perl$/;
    expect(packages.filter(name => unused.test(name))).to.deep.equal([]);
    const files = readdirSync(path('worker', 'usr/lib/chromium'));
    expect(files).to.include('chromium-headless-shell');
    expect(files.filter(name => /^libVk|^resources|^chrome_\d/.test(name))).to.deep.equal([]);
  });

  it('include fonts for Chinese, Japanese and Korean, and a variant of the worker has none', () => {
    expect(existsSync(path('worker', CJK))).to.equal(true);
    expect(existsSync(path('worker-no-cjk', CJK))).to.equal(false);
    expect(existsSync(path('worker-no-cjk', 'usr/share/fonts/truetype/noto'))).to.equal(true);
    const [all, without] = ['worker', 'worker-no-cjk'].map(
      name => built.images[name as Target].bytes,
    ) as [number, number];
    expect(without).to.be.lessThan(all - 80e6);
  });
});
