import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { runCommand } from '../../standalone/run-command.ts';
import { skip } from '../support/skip.ts';
import { productImages, TARGETS, type Target } from './built-product.ts';
import { type Images, whyNoImages } from './image-build.ts';

const MINUTE_MS = 60_000;

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
  const path = (name: Target, file: string) => join(built.images[name].root, file);

  before(async function () {
    this.timeout(25 * MINUTE_MS);
    const why = await whyNoImages(console.log);
    if (why !== undefined) skip(this, why);
    built = await productImages();
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
});
