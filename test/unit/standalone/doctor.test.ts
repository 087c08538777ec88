// @proves mcp-discovery

import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { expect } from 'chai';
import { readApiConfig } from '../../../api/config.ts';
import { findInstalledChrome } from '../../../standalone/chrome.ts';
import {
  checkChrome,
  checkFonts,
  checkMemory,
  checkMongo,
  checkNode,
  checkPort,
  checkProcesses,
  checkPublicUrl,
  processLimit,
} from '../../../standalone/doctor.ts';
import { FONT_PACKAGES } from '../../../standalone/fonts.ts';
import { readWorkerConfig } from '../../../worker/config.ts';
import { skip } from '../../support/skip.ts';
import { temporaryFolder } from '../../support/temporary.ts';

/** The folders of this machine that contain Latin fonts only. */
function latinFolders(test: Mocha.Context): string[] {
  const folders = [
    '/usr/share/fonts/truetype/liberation',
    '/usr/share/fonts/truetype/liberation2',
    '/usr/share/fonts/truetype/dejavu',
  ];
  const there = folders.filter(folder => existsSync(folder));
  return there.length > 1
    ? there
    : skip(
        test,
        'the fonts of Debian (fonts-liberation, fonts-dejavu-core) are not where Debian keeps them',
      );
}

const GIB = 2 ** 30;
const chromeConfig = (env: Record<string, string> = {}) =>
  readWorkerConfig({ PATH: process.env.PATH, ...env }).chrome;

describe('doctor', () => {
  it('requires Node 24', () => {
    expect(checkNode('24.1.0').level).to.equal('ok');
    expect(checkNode('20.20.2')).to.deep.include({ level: 'fail' });
  });

  it('compares the available memory with the slots', () => {
    expect(checkMemory(2 * GIB, 2)).to.include({ level: 'ok' });
    expect(checkMemory(1 * GIB, 32)).to.include({ level: 'warn' });
    expect(checkMemory(GIB / 4, 2)).to.include({ level: 'fail' });
    expect(checkMemory(GIB / 4, 2).text)
      .to.include('256 MiB')
      .and.include('PRESSROOM_SLOTS');
    // Enough for eight idle Chromes and eight ordinary pages.
    expect(checkMemory(1.5 * GIB, 8)).to.include({ level: 'warn' });
    expect(checkMemory(2 * GIB, 8)).to.include({ level: 'ok' });
  });

  it('compares the process limit with the slots', () => {
    expect(checkProcesses(undefined, 256)).to.include({ level: 'ok' });
    expect(checkProcesses(1_300, 8)).to.include({ level: 'ok' });
    expect(checkProcesses(1_299, 8)).to.include({ level: 'warn' });
    expect(checkProcesses(200, 2)).to.include({ level: 'fail' });
    expect(checkProcesses(1_024, 8).text)
      .to.include('Limit of 1024 processes')
      .and.include('PRESSROOM_SLOTS');
  });

  const OWN =
    'Limit  Soft Limit  Hard Limit  Units\nMax processes             4096                 8192                 processes\n';
  for (const [what, files, limit] of [
    ['its own', { '/proc/self/limits': OWN }, 4_096],
    [
      'that of its cgroup',
      {
        '/proc/self/limits': OWN,
        '/proc/self/cgroup': '0::/a.slice\n',
        '/sys/fs/cgroup/a.slice/pids.max': '512\n',
      },
      512,
    ],
    [
      'that of its container',
      { '/proc/self/cgroup': '0::/\n', '/sys/fs/cgroup/pids.max': '1024\n' },
      1_024,
    ],
    [
      'that of its container by version 1',
      {
        '/proc/self/cgroup': '9:name=systemd:/\n8:pids:/of/the/host\n0::/\n',
        '/sys/fs/cgroup/pids/pids.max': '300\n',
      },
      300,
    ],
    [
      'none',
      {
        '/proc/self/limits': 'Max processes  unlimited  unlimited  processes\n',
        '/sys/fs/cgroup/pids.max': 'max\n',
      },
      undefined,
    ],
    ['none that is known', {}, undefined],
  ] as [string, Record<string, string>, number | undefined][])
    it(`reads the process limit: ${what}`, () => {
      expect(processLimit(file => files[file] ?? '')).to.equal(limit);
    });

  for (const [publicUrl, level, message, env = {}] of [
    ['http://localhost:8080', 'ok', 'on this machine can connect to http://localhost:8080/mcp'],
    ['https://pdf.corp.example', 'ok', 'MCP clients can connect to https://pdf.corp.example/mcp'],
    ['http://10.0.0.5:8080', 'warn', 'Use an https:// URL'],
    ['http://10.0.0.5:8080', 'ok', '10.0.0.5', { PRESSROOM_DASHBOARD: 'off' }],
    ['https://corp.example/pdf', 'warn', 'without a path'],
    [
      'https://pdf.corp.example',
      'ok',
      'PRESSROOM_PUBLIC_URL is https://pdf.corp.example',
      { PRESSROOM_MCP: 'off' },
    ],
  ] as const)
    it(`checks who can connect to ${publicUrl}${Object.keys(env).map(name => ` without ${name}`)}`, () => {
      const { level: given, text } = checkPublicUrl(
        readApiConfig({ PRESSROOM_PUBLIC_URL: publicUrl, ...env }),
      );
      expect(given).to.equal(level);
      expect(text).to.include(message);
      if ('PRESSROOM_MCP' in env || 'PRESSROOM_DASHBOARD' in env)
        expect(text).not.to.include('/mcp');
    });

  describe('checks fonts and', () => {
    const at = temporaryFolder();
    /** A Chrome that finds only the fonts in `folders`. */
    const chromeWith = async (folders: string[]) => {
      const places = [
        ...folders.map(folder => `<dir>${folder}</dir>`),
        `<cachedir>${at('cache')}</cachedir>`,
      ];
      await writeFile(
        at('fonts.conf'),
        `<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig>${places.join('')}</fontconfig>`,
      );
      const real = await findInstalledChrome(process.env);
      await writeFile(
        at('chrome'),
        `#!/bin/sh\nFONTCONFIG_FILE="${at('fonts.conf')}" exec "${real}" "$@"\n`,
        { mode: 0o755 },
      );
      await chmod(at(), 0o755);
      return { ...process.env, PRESSROOM_CHROME: at('chrome') };
    };

    it('names the scripts without a font and the missing package', async function () {
      const env = await chromeWith(latinFolders(this));
      const findings = await checkFonts(env, chromeConfig());
      expect(findings[0]!.level).to.equal('ok');
      expect(findings[0]!.text).to.include('Latin, Greek, Cyrillic');
      const warnings = findings.slice(1).map(({ level, text }) => `${level} ${text}`);
      expect(warnings.find(text => text.includes('fonts-noto-cjk'))).to.match(
        /^warn No font for simplified Chinese, traditional Chinese, Japanese, Korean\./,
      );
      expect(warnings.find(text => text.includes('fonts-noto-color-emoji'))).to.include('emoji');
      expect(warnings.find(text => text.includes('fonts-noto-core')))
        .to.include('Devanagari')
        .and.include('Thai');
      expect(warnings.join()).to.not.include('fonts-liberation');
    });

    it('reports nothing when all packages are installed', async function () {
      const findings = await checkFonts(process.env, chromeConfig());
      const missing = findings.filter(({ level }) => level !== 'ok').map(({ text }) => text);
      if (spawnSync('dpkg-query', ['-W', ...FONT_PACKAGES]).status !== 0)
        skip(this, `not all packages are installed: ${missing.join(' ')}`);
      expect(missing).to.deep.equal([]);
    });

    it('skips the check without a Chrome', async () => {
      expect(
        await checkFonts({ PATH: '/nowhere', PRESSROOM_CACHE_DIR: '/nowhere' }, chromeConfig()),
      ).to.have.nested.property('[0].level', 'warn');
    });
  });

  it('names the process that uses a port', async () => {
    const server = createServer().listen(0, '0.0.0.0');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const taken = await checkPort(port, 'PRESSROOM_PORT', 'the API');
    server.close();
    await once(server, 'close');
    expect(taken.level).to.equal('warn');
    expect(taken.text)
      .to.include(String(port))
      .and.include(`process ${process.pid}`)
      .and.include('PRESSROOM_PORT');
    expect(await checkPort(port, 'PRESSROOM_PORT', 'the API')).to.include({ level: 'ok' });
  });

  it('starts Chrome, and warns when it runs without its sandbox', async () => {
    const good = await checkChrome(process.env, chromeConfig());
    expect(good.text)
      .to.match(/Chrome\/\d+/)
      .and.include('sandbox works');
    const bare = await checkChrome(process.env, chromeConfig({ PRESSROOM_CHROME_SANDBOX: 'off' }));
    expect(bare.level).to.equal('warn');
    expect(bare.text)
      .to.include('runs without its sandbox')
      .and.include('PRESSROOM_CHROME_SANDBOX');
  });

  it('fails for a configured Chrome that does not exist or is not a Chrome', async () => {
    const none = await checkChrome(
      { ...process.env, PRESSROOM_CHROME: '/nowhere/chrome' },
      chromeConfig(),
    );
    expect(none.level).to.equal('fail');
    expect(none.text).to.include('PRESSROOM_CHROME=/nowhere/chrome');
    const other = await checkChrome(
      { ...process.env, PRESSROOM_CHROME: '/bin/false' },
      chromeConfig(),
    );
    expect(other.level).to.equal('fail');
  });

  it('only warns when Chrome or mongod is not installed yet', async () => {
    const empty = { PATH: '/nowhere', PRESSROOM_CACHE_DIR: '/nowhere' };
    expect(await checkChrome(empty, chromeConfig())).to.include({ level: 'warn' });
    expect(await checkMongo(empty, undefined)).to.include({ level: 'warn' });
  });

  const at = temporaryFolder();
  it('recommends a newer mongod than 6.0 without a warning', async () => {
    await mkdir(at('old'), { recursive: true });
    await writeFile(at('old', 'mongod'), '#!/bin/sh\necho "db version v6.0.5"\n', { mode: 0o755 });
    const { level, text } = await checkMongo(
      { PATH: at('old'), PRESSROOM_CACHE_DIR: '/nowhere' },
      undefined,
    );
    expect(level).to.equal('ok');
    expect(text)
      .to.match(/^mongod 6\.0\.5 \(.*\)\. .*install MongoDB 7\.0 or newer/)
      .and.not.include('\n');
  });

  it('fails when MONGODB_URI does not answer, without printing its password', async () => {
    const finding = await checkMongo(
      {},
      'mongodb://someone:hidden@127.0.0.1:1/?serverSelectionTimeoutMS=300',
    );
    expect(finding.level).to.equal('fail');
    expect(finding.text).to.include('MONGODB_URI').and.not.include('hidden');
  });
});
