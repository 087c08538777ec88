import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { aptInstall } from '../../../standalone/apt.ts';
import { findInstalledChrome, findOrInstallChrome } from '../../../standalone/chrome.ts';
import { FROM_NPM } from '../../../standalone/chrome-downloads.ts';
import { FONT_PACKAGES } from '../../../standalone/fonts.ts';
import { isHeadlessShell } from '../../../worker/browser/find-chrome.ts';
import { skip } from '../../support/skip.ts';
import { temporaryFolder } from '../../support/temporary.ts';

/** Nobody listens there: a download through it ends at once. */
const CLOSED = 'http://127.0.0.1:1';

describe('the search for a Chrome', () => {
  const at = temporaryFolder();

  const program = async (folder: string, name: string, script = 'exit 0') => {
    await mkdir(at(folder), { recursive: true });
    await writeFile(at(folder, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    return at(folder);
  };
  it('takes the configured one before all others', async () => {
    const PATH = await program('both', 'chromium-headless-shell');
    await program('both', 'mine');
    expect(await findInstalledChrome({ PATH, PRESSROOM_CHROME: at('both', 'mine') })).to.equal(
      at('both', 'mine'),
    );
    const error = (await findInstalledChrome({ PATH, PRESSROOM_CHROME: at('both', 'none') }).catch(
      (reason: Error) => reason,
    )) as Error;
    expect(error.message).to.include('PRESSROOM_CHROME').and.include(at('both', 'none'));
  });

  it('prefers a headless shell on PATH to the cache, and takes no full browser', async () => {
    const full = await program('full', 'chromium');
    await program('full', 'google-chrome');
    const shell = await program('shell', 'chrome-headless-shell');
    await program(`cache/${FROM_NPM}`, 'chrome');
    const env = { PRESSROOM_CACHE_DIR: at('cache') };
    expect(await findInstalledChrome({ ...env, PATH: `${full}:${shell}` })).to.equal(
      at('shell', 'chrome-headless-shell'),
    );
    expect(await findInstalledChrome({ ...env, PATH: full })).to.equal(
      at('cache', FROM_NPM, 'chrome'),
    );
    expect(await findInstalledChrome({ ...env, PATH: '/nowhere' })).to.equal(
      at('cache', FROM_NPM, 'chrome'),
    );
    expect(
      await findInstalledChrome({ PRESSROOM_CACHE_DIR: at('empty'), PATH: '/nowhere' }),
    ).to.equal(undefined);
  });

  it('tells a headless shell from a full browser by its own word', () => {
    expect(isHeadlessShell('HeadlessChrome/156.0.8078.79')).to.equal(true);
    for (const product of ['Chrome/156.0.8078.79', 'Chromium/156.0.8078.79', ''])
      expect(isHeadlessShell(product), product).to.equal(false);
  });

  it('refuses one that the user it runs as can not reach, naming the folder', async () => {
    const PATH = await program('shell', 'chrome-headless-shell');
    const error = (await findOrInstallChrome({ PATH }, () => {}, 64_117).catch(
      (reason: Error) => reason,
    )) as Error;
    expect(error.message).to.include('64117').and.include(`chmod o+x ${at()}`);
  });

  it('tries every way once, fast where all are closed, and then says how to mend it', async () => {
    await program('tools', 'apt-get', 'echo "E: no mirror answers" >&2; exit 100');
    // The machine's own folders may hold a Chrome: only the programs that are needed are taken from
    // them.
    for (const name of ['npm', 'node', 'sh'])
      await program('tools', name, `PATH=${process.env.PATH} exec ${name} "$@"`);
    const said: string[] = [];
    const env = {
      ...{ PATH: at('tools'), HOME: at('home'), PRESSROOM_CACHE_DIR: at('empty') },
      ...{
        HTTPS_PROXY: CLOSED,
        HTTP_PROXY: CLOSED,
        npm_config_registry: CLOSED,
        npm_config_userconfig: '/dev/null',
      },
    };
    const error = (await findOrInstallChrome(env, line => said.push(line)).catch(
      (reason: Error) => reason,
    )) as Error;
    expect(said.join())
      .to.include('no mirror answers')
      .and.match(/npm .*ECONNREFUSED/);
    expect(error.message).to.include('PRESSROOM_CHROME').and.include('chromium-headless-shell');
    expect(said[0]).to.match(/^No Chrome here yet\. Getting /);
    expect(said.filter(line => line.includes('Getting '))).to.have.length(
      process.getuid?.() === 0 ? 3 : 2,
    );
    expect(said.at(-1)).to.match(/^It is not available \(.*[^.]\)\.$/);
  });

  it('rejects an npm package that is not the published one', async () => {
    await mkdir(at('package'));
    await writeFile(
      at('package', 'package.json'),
      JSON.stringify({ name: '@sparticuz/chromium', version: '153.0.0' }),
    );
    execFileSync('tar', ['-czf', at('package.tgz'), '-C', at(), 'package']);
    const tarball = await readFile(at('package.tgz'));
    const integrity = `sha512-${createHash('sha512').update(tarball).digest('base64')}`;
    const registry = createServer((request, response) => {
      if (request.url!.endsWith('.tgz')) return void response.end(tarball);
      const dist = { integrity, tarball: `http://${request.headers.host}/chromium-153.0.0.tgz` };
      const version = { name: '@sparticuz/chromium', version: '153.0.0', dist };
      response.end(
        JSON.stringify({
          name: version.name,
          'dist-tags': { latest: '153.0.0' },
          versions: { '153.0.0': version },
        }),
      );
    }).listen(0, '127.0.0.1');
    await once(registry, 'listening');
    await program('npm only', 'node', `PATH=${process.env.PATH} exec node "$@"`);
    for (const name of ['npm', 'sh', 'tar'])
      await program('npm only', name, `PATH=${process.env.PATH} exec ${name} "$@"`);
    const env = {
      ...{
        PATH: at('npm only'),
        HOME: at('home'),
        PRESSROOM_CACHE_DIR: at('refused'),
        HTTPS_PROXY: CLOSED,
        NO_PROXY: '127.0.0.1',
      },
      npm_config_registry: `http://127.0.0.1:${(registry.address() as AddressInfo).port}`,
      npm_config_userconfig: '/dev/null',
    };
    try {
      const said: string[] = [];
      const error = (await findOrInstallChrome(env, line => said.push(line)).catch(
        (reason: Error) => reason,
      )) as Error;
      expect(error.message).to.include('none could be installed');
      expect(said.at(-1)).to.match(
        /^It is not available \(.*chromium-153\.0\.0\.tgz is not the published file: its SHA-256 is [0-9a-f]{64}, expected is 20e5656f/,
      );
      expect(await readdir(at('refused'))).to.deep.equal([]);
    } finally {
      registry.closeAllConnections();
      registry.close();
    }
  });

  it('installs the fonts with the Chrome that it installs, and goes on without them', async function () {
    if (process.getuid?.() !== 0) skip(this, 'only root installs packages');
    for (const fonts of ['good', 'lost']) {
      const folder = `with ${fonts} fonts`;
      const script = `echo "$*" >> "${at(folder, 'asked')}"
case "$*" in *fonts-*) [ ${fonts} = good ] || { echo "E: no such font" >&2; exit 100; };;
*headless-shell*) printf '#!/bin/sh\n' > "${at(folder, 'chromium-headless-shell')}"; /bin/chmod 755 "${at(folder, 'chromium-headless-shell')}";; esac`;
      const PATH = await program(folder, 'apt-get', script);
      const found = await findOrInstallChrome({ PATH, PRESSROOM_CACHE_DIR: at('empty') }, () => {});
      expect(found).to.equal(at(folder, 'chromium-headless-shell'));
      const asked = await readFile(at(folder, 'asked'), 'utf8');
      for (const fontPackage of FONT_PACKAGES) expect(asked).to.include(` ${fontPackage}`);
    }
  });
});

describe('apt', () => {
  const at = temporaryFolder();
  const env = () => ({ PATH: `${at('bin')}:/usr/bin:/bin`, PRESSROOM_CACHE_DIR: at('cache') });

  it('installs without a question, and updates an index that does not know the versions any more', async function () {
    if (process.getuid?.() !== 0) skip(this, 'only root installs packages');
    await mkdir(at('bin'));
    // Says what it was asked; the first installation fails as with an old index.
    const script = `echo "$DEBIAN_FRONTEND $*" >> ${at('asked')}
case "$*" in *install*) [ -e ${at('updated')} ] || { echo "E: 404" >&2; exit 100; };; *update*) touch ${at('updated')};; esac`;
    await writeFile(at('bin', 'apt-get'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    const said: string[] = [];
    expect(await aptInstall(['one', 'two'], line => said.push(line), env())).to.equal(true);
    expect(said).to.have.length(1);
    const asked = (await readFile(at('asked'), 'utf8')).trim().split('\n');
    expect(asked.at(-1)).to.match(
      /^noninteractive .*install -y -q --no-install-recommends one two$/,
    );
    expect(asked.some(line => line.includes('update'))).to.equal(true);
  });

  it('says why when it can not, and nothing where there is no apt', async () => {
    const said: string[] = [];
    expect(await aptInstall(['one'], line => said.push(line), { PATH: '/nowhere' })).to.equal(
      false,
    );
    expect(said).to.deep.equal([]);
    if (process.getuid?.() !== 0) return;
    await writeFile(
      at('bin', 'apt-get'),
      '#!/bin/sh\necho "E: no mirror answers" >&2; exit 100\n',
      { mode: 0o755 },
    );
    expect(await aptInstall(['one'], line => said.push(line), env())).to.equal(false);
    expect(said.join()).to.include('no mirror answers');
  });
});
