import { copyFileSync, existsSync, mkdirSync, readdirSync, readlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { LARGE_PAGES, withLargePages } from '../../standalone/chrome-large-pages.ts';
import { fillLargePages } from '../../worker/large-pages.ts';
import { layoutOf } from '../../worker/program-layout.ts';
import { skip } from '../support/skip.ts';
import { temporaryFolder } from '../support/temporary.ts';

describe('the copy of Chrome for large pages', () => {
  const at = temporaryFolder();
  const said: string[] = [];
  const proved: string[] = [];
  const copy = () => at('cache', LARGE_PAGES, 'shell');
  const find = ({
    executable = at('chrome', 'shell'),
    cache = at('cache'),
    uid = undefined as number | undefined,
    prove = async (path: string): Promise<unknown> => proved.push(path),
  } = {}) => withLargePages(executable, cache, line => said.push(line), { uid, prove });

  before(async function () {
    writeFileSync(at('probe'), Buffer.alloc(2 ** 21, 1), { flush: true });
    if ((await fillLargePages(at('probe'))) === 0) skip(this, `files in ${at()} cannot be held in large pages here`);
    for (const folder of ['chrome', 'cache']) mkdirSync(at(folder));
    copyFileSync('/usr/bin/cat', at('chrome', 'shell'));
    writeFileSync(at('chrome', 'icudtl.dat'), '');
    mkdirSync(at('chrome', 'locales'));
  });
  beforeEach(() => {
    said.length = 0;
    proved.length = 0;
  });

  it('is used as it was installed where a copy does not start, with the reason, and leaves nothing', async () => {
    const prove = async () => {
      throw new Error('it found no fonts');
    };
    expect(await find({ prove })).to.equal(at('chrome', 'shell'));
    expect(said).to.deep.equal(['Chrome is used as it was installed, without large pages: it found no fonts.']);
    expect(readdirSync(at('cache'))).to.deep.equal([]);
  });

  it('is used as it was installed where the cache cannot be written', async () => {
    expect(await find({ cache: at('chrome', 'shell', 'cache') })).to.equal(at('chrome', 'shell'));
    expect(said.join()).to.match(/^Chrome is used as it was installed, without large pages: ENOTDIR: .*shell/);
  });

  it('is not made in a folder that its user cannot enter', async () => {
    expect(await find({ uid: 64_117, cache: at('closed', 'cache') })).to.equal(at('chrome', 'shell'));
    expect(said).to.deep.equal([
      `Chrome is used as it was installed, without large pages: ${at()} is closed to user 64117, whom Chrome runs as.`,
    ]);
    expect(readdirSync(at('closed', 'cache'))).to.deep.equal([]);
  });

  it('is made once, beside links to all that Chrome needs, and proved before anybody can find it', async () => {
    const seen: boolean[] = [];
    const prove = async (path: string) => {
      seen.push(existsSync(copy()));
      proved.push(path);
    };
    expect(await find({ prove })).to.equal(copy());
    expect(await find({ prove })).to.equal(copy());
    expect(seen).to.deep.equal([false]);
    expect(await layoutOf(copy())).to.equal('large');
    expect(readlinkSync(at('cache', LARGE_PAGES, 'icudtl.dat'))).to.equal(at('chrome', 'icudtl.dat'));
    expect(readlinkSync(at('cache', LARGE_PAGES, 'locales'))).to.equal(at('chrome', 'locales'));
    expect(said).to.deep.equal([]);
  });

  it('is made again for another version of Chrome at the same place', async () => {
    copyFileSync('/usr/bin/tac', at('chrome', 'shell'));
    utimesSync(at('chrome', 'shell'), 1, 1);
    expect(await find()).to.equal(copy());
    expect(proved).to.have.length(1);
    expect(await find()).to.equal(copy());
    expect(proved).to.have.length(1);
    expect(readdirSync(at('cache'))).to.deep.equal([LARGE_PAGES]);
  });

  it('is not taken away by who looked before another had made it', async () => {
    utimesSync(at('chrome', 'shell'), 2, 2);
    // Makes a copy of the same version while this one is being made.
    await find({ prove: () => find() });
    expect(proved).to.have.length(1);
    expect(readdirSync(at('cache'))).to.deep.equal([LARGE_PAGES]);
    await find();
    expect(proved).to.have.length(1);
  });

  it('is not made of what is laid out for large pages already, nor of a script', async () => {
    expect(await find({ executable: copy() })).to.equal(copy());
    writeFileSync(at('chrome', 'script'), '#!/bin/sh\nTZ=UTC /usr/bin/cat "$@"\n', { mode: 0o755 });
    expect(await find({ executable: at('chrome', 'script') })).to.equal(at('chrome', 'script'));
    expect([...said, ...proved]).to.deep.equal([]);
  });
});
