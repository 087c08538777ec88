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

/** A closed port, so that a download fails immediately. */
const CLOSED = 'http://127.0.0.1:1';

describe('the search for a Chrome', () => {
  const at = temporaryFolder();

  const program = async (folder: string, name: string, script = 'exit 0') => {
    await mkdir(at(folder), { recursive: true });
    await writeFile(at(folder, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    return at(folder);
  };
  it('prefers the configured Chrome', async () => {
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

  it('prefers a headless shell on PATH to the cache, and ignores full browsers', async () => {
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

  it('distinguishes a headless shell from a full browser by its product name', () => {
    expect(isHeadlessShell('HeadlessChrome/156.0.8078.79')).to.equal(true);
    for (const product of ['Chrome/156.0.8078.79', 'Chromium/156.0.8078.79', ''])
      expect(isHeadlessShell(product), product).to.equal(false);
  });

  it('rejects a Chrome that its user cannot access, and names the folder', async () => {
    const PATH = await program('shell', 'chrome-headless-shell');
    const error = (await findOrInstallChrome({ PATH }, () => {}, 64_117).catch(
      (reason: Error) => reason,
    )) as Error;
    expect(error.message).to.include('64117').and.include(`chmod o+x ${at()}`);
  });

  it('tries every source once, fails fast without a network, and then names the fix', async () => {
    await program('tools', 'apt-get', 'echo "E: no mirror answers" >&2; exit 100');
    // The folders of the machine may contain a Chrome, so PATH has only the required programs from
    // them.
    for (const name of ['npm', 'node', 'sh'])
      await program('tools', name, `PATH=${process.env.PATH} exec ${name} "$@"`);
    const notices: string[] = [];
    const env = {
      ...{ PATH: at('tools'), HOME: at('home'), PRESSROOM_CACHE_DIR: at('empty') },
      ...{
        HTTPS_PROXY: CLOSED,
        HTTP_PROXY: CLOSED,
        npm_config_registry: CLOSED,
        npm_config_userconfig: '/dev/null',
      },
    };
    const error = (await findOrInstallChrome(env, line => notices.push(line)).catch(
      (reason: Error) => reason,
    )) as Error;
    expect(notices.join())
      .to.include('no mirror answers')
      .and.match(/npm .*ECONNREFUSED/);
    expect(error.message).to.include('PRESSROOM_CHROME').and.include('chromium-headless-shell');
    expect(notices[0]).to.match(/^Chrome is not installed\. Installing /);
    expect(notices.filter(line => /(^|\. )Installing (the|Chrome)/.test(line))).to.have.length(
      process.getuid?.() === 0 ? 3 : 2,
    );
    expect(notices.at(-1)).to.match(/^Could not install the npm package .* \(.*[^.]\)\.$/);
  });

  it('rejects an npm package whose checksum differs', async () => {
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
      const notices: string[] = [];
      const error = (await findOrInstallChrome(env, line => notices.push(line)).catch(
        (reason: Error) => reason,
      )) as Error;
      expect(error.message).to.include('could not be downloaded');
      expect(notices.at(-1)).to.match(
        /^Could not install the npm package .* \(.*chromium-153\.0\.0\.tgz is not the published file: expected SHA-256 20e5656f\w+, found [0-9a-f]{64}/,
      );
      expect(await readdir(at('refused'))).to.deep.equal([]);
    } finally {
      registry.closeAllConnections();
      registry.close();
    }
  });

  it('installs fonts together with Chrome, and continues if that fails', async function () {
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

  it('installs without prompts, and updates an outdated package index', async function () {
    if (process.getuid?.() !== 0) skip(this, 'only root installs packages');
    await mkdir(at('bin'));
    // Records its arguments; the first installation fails as with an outdated index.
    const script = `echo "$DEBIAN_FRONTEND $*" >> ${at('asked')}
case "$*" in *install*) [ -e ${at('updated')} ] || { echo "E: 404" >&2; exit 100; };; *update*) touch ${at('updated')};; esac`;
    await writeFile(at('bin', 'apt-get'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    const notices: string[] = [];
    expect(await aptInstall(['one', 'two'], line => notices.push(line), env())).to.equal(true);
    expect(notices).to.have.length(1);
    const asked = (await readFile(at('asked'), 'utf8')).trim().split('\n');
    expect(asked.at(-1)).to.match(
      /^noninteractive .*install -y -q --no-install-recommends one two$/,
    );
    expect(asked.some(line => line.includes('update'))).to.equal(true);
  });

  it('reports why an installation failed, and nothing without apt', async () => {
    const notices: string[] = [];
    expect(await aptInstall(['one'], line => notices.push(line), { PATH: '/nowhere' })).to.equal(
      false,
    );
    expect(notices).to.deep.equal([]);
    if (process.getuid?.() !== 0) return;
    await writeFile(
      at('bin', 'apt-get'),
      '#!/bin/sh\necho "E: no mirror answers" >&2; exit 100\n',
      { mode: 0o755 },
    );
    expect(await aptInstall(['one'], line => notices.push(line), env())).to.equal(false);
    expect(notices.join()).to.include('no mirror answers');
  });
});
