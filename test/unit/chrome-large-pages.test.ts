import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { createLargePages, LARGE_PAGES } from '../../standalone/chrome-large-pages.ts';
import { layoutOf } from '../../worker/program-layout.ts';
import { temporaryFolder } from '../support/temporary.ts';

const LATER = 1_000;

describe('the copy of Chrome for large pages', () => {
  const at = temporaryFolder();
  let said: string[] = [];
  let proved: string[] = [];
  let folder = '';
  /** Where Chrome was installed, and the cache. */
  const here = (...names: string[]) => join(folder, ...names);
  const shell = () => here('chrome', 'shell');

  beforeEach(async () => {
    said = [];
    proved = [];
    folder = await mkdtemp(at('machine-'));
    for (const name of ['chrome', 'cache']) mkdirSync(here(name));
    copyFileSync('/usr/bin/cat', shell());
    writeFileSync(here('chrome', 'icudtl.dat'), '');
    mkdirSync(here('chrome', 'locales'));
  });

  /** A process of Pressroom; it has large pages unless told otherwise. */
  const starter = ({
    cache = here('cache'),
    uid = undefined as number | undefined,
    prove = async (path: string): Promise<unknown> => proved.push(path),
    filled = 1,
  } = {}) => createLargePages({ cache, say: line => said.push(line), uid, prove, fill: async () => filled });
  const inCache = () => readdirSync(here('cache'));
  const upgrade = (program: string) => {
    copyFileSync(program, shell());
    utimesSync(shell(), LATER, LATER);
  };

  it('is made once, beside links to all that Chrome needs, and proved before anybody can find it', async () => {
    const seen: string[][] = [];
    const prove = async (path: string) => {
      seen.push(inCache().filter(name => !name.startsWith('.')));
      proved.push(path);
    };
    const copy = await starter({ prove })(shell());
    expect(await starter({ prove })(shell())).to.equal(copy);
    expect(seen).to.deep.equal([[]]);
    expect(copy).to.match(new RegExp(`^${here('cache', LARGE_PAGES)}[0-9a-f]{16}/shell$`));
    expect(await layoutOf(copy)).to.equal('large');
    expect(readdirSync(dirname(copy)).sort()).to.deep.equal(['icudtl.dat', 'locales', 'made-of.json', 'shell']);
    expect(readlinkSync(join(dirname(copy), 'icudtl.dat'))).to.equal(here('chrome', 'icudtl.dat'));
    expect(said).to.deep.equal([]);
  });

  it('is one of the new version when Chrome is upgraded beneath a process that runs, and the old one goes', async () => {
    const find = starter();
    const old = await find(shell());
    upgrade('/usr/bin/tac');
    const copy = await find(shell());
    expect(copy).to.not.equal(old);
    expect(readFileSync(copy).includes('tac')).to.equal(true);
    expect(await find(shell())).to.equal(copy);
    expect(proved).to.have.length(2);
    // Who still runs from the old one has its files for an hour.
    expect(readdirSync(dirname(old)).sort()).to.deep.equal(['icudtl.dat', 'locales', 'made-of.json']);
    utimesSync(dirname(old), LATER, LATER);
    await starter()(shell());
    expect(existsSync(dirname(old))).to.equal(false);
  });

  it('is another one when there is one more file beside Chrome', async () => {
    const old = await starter()(shell());
    writeFileSync(here('chrome', 'more.pak'), '');
    const copy = await starter()(shell());
    expect(copy).to.not.equal(old);
    expect(readdirSync(dirname(copy))).to.include('more.pak');
  });

  it('leaves Chrome’s files as they are, whatever their names', async () => {
    const names = ['made-of.json', 'shell.unfinished', 'probe'];
    for (const name of names) writeFileSync(here('chrome', name), 'precious');
    expect(await layoutOf(await starter()(shell()))).to.equal('large');
    for (const name of names) expect(readFileSync(here('chrome', name), 'utf8')).to.equal('precious');
    expect(said).to.deep.equal([]);
  });

  it('leaves that of another Chrome alone', async () => {
    mkdirSync(here('other'));
    copyFileSync('/usr/bin/tac', here('other', 'shell'));
    const copies = [await starter()(shell()), await starter()(here('other', 'shell'))];
    expect(await Promise.all([starter()(shell()), starter()(here('other', 'shell'))])).to.deep.equal(copies);
    expect(proved).to.have.length(2);
    rmSync(here('other'), { recursive: true });
    await starter()(shell());
    expect([existsSync(copies[0]!), existsSync(copies[1]!)]).to.deep.equal([true, false]);
  });

  it('is made anew when it is damaged', async () => {
    const copy = await starter()(shell());
    for (const damage of [
      () => truncateSync(copy, 30_000),
      () => rmSync(copy),
      () => writeFileSync(join(dirname(copy), 'made-of.json'), '{'),
    ]) {
      damage();
      expect(await starter()(shell())).to.equal(copy);
      expect(await layoutOf(copy)).to.equal('large');
    }
    expect(proved).to.have.length(4);
  });

  it('is made by several at once, and stays where the first put it', async () => {
    const first = Promise.withResolvers<string>();
    // The second has seen none, and is done when the first uses its copy.
    const second = starter({ prove: () => first.promise })(shell());
    const copy = await starter()(shell());
    const { ino } = statSync(copy);
    first.resolve(copy);
    expect(await second).to.equal(copy);
    expect(statSync(copy).ino).to.equal(ino);
    expect(inCache()).to.have.length(1);
    expect(said).to.deep.equal([]);
  });

  it('is given up when its process is to end, and made by the next', async () => {
    const find = starter();
    expect(await find(shell(), AbortSignal.abort())).to.equal(shell());
    expect([...said, ...proved, ...inCache()]).to.deep.equal([]);
    expect(await find(shell())).to.include(LARGE_PAGES);
  });

  it('takes away what a copying that was killed has left, and not what another is about', async () => {
    for (const name of ['left', 'busy']) mkdirSync(here('cache', `.${LARGE_PAGES}${name}`));
    utimesSync(here('cache', `.${LARGE_PAGES}left`), LATER, LATER);
    mkdirSync(here('cache', '.other'));
    utimesSync(here('cache', '.other'), LATER, LATER);
    await starter()(shell());
    mkdirSync(here('cache', `.${LARGE_PAGES}later`));
    utimesSync(here('cache', `.${LARGE_PAGES}later`), LATER, LATER);
    await starter()(shell());
    expect(inCache().filter(name => name.startsWith('.'))).to.deep.equal([`.${LARGE_PAGES}busy`, '.other']);
  });

  describe('is not used, but Chrome as it was installed,', () => {
    it('where large pages cannot be had, without a word', async () => {
      expect(await starter({ filled: 0 })(shell())).to.equal(shell());
      expect([...said, ...inCache(), ...proved]).to.deep.equal([]);
    });

    it('where it does not start, with the reason, once', async () => {
      const prove = async (path: string) => {
        proved.push(path);
        throw new Error('it found no fonts.');
      };
      const find = starter({ prove });
      for (let nth = 0; nth < 2; nth++) expect(await find(shell())).to.equal(shell());
      expect(said).to.deep.equal(['Chrome is used as it was installed, without large pages: it found no fonts.']);
      expect(proved).to.have.length(1);
      expect(inCache()).to.deep.equal([]);
    });

    it('where the cache cannot be written', async () => {
      expect(await starter({ cache: here('chrome', 'shell', 'cache') })(shell())).to.equal(shell());
      expect(said.join()).to.match(/^Chrome is used as it was installed, without large pages: ENOTDIR: .*shell/);
    });

    it('where its user cannot enter the cache, before and after it was made', async () => {
      expect(await starter({ uid: 64_117 })(shell())).to.equal(shell());
      expect(proved).to.deep.equal([]);
      await starter()(shell());
      expect(await starter({ uid: 64_117 })(shell())).to.equal(shell());
      for (const line of said)
        expect(line).to.equal(
          `Chrome is used as it was installed, without large pages: ${folder} is closed to user 64117, whom Chrome runs as.`,
        );
      expect(said).to.have.length(2);
    });

    it('where it is laid out for them already, is a script, or is not there', async () => {
      const copy = await starter()(shell());
      writeFileSync(here('script'), '#!/bin/sh\nTZ=UTC /usr/bin/cat "$@"\n', { mode: 0o755 });
      for (const executable of [copy, here('script'), here('nothing'), here('chrome')])
        expect(await starter()(executable)).to.equal(executable);
      expect(proved).to.have.length(1);
      expect(said).to.deep.equal([]);
    });
  });
});
