// The two Chromes that install without root: the headless shell of Chrome for Testing, and the one
// in an npm package. Owns their layout in the cache.
import { createReadStream, createWriteStream } from 'node:fs';
import { chmod, mkdir, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createBrotliDecompress } from 'node:zlib';
import { installOnce, mustHaveSha256 } from './cache.ts';
import { runCommand } from './run-command.ts';

const NPM_VERSION = '153.0.0';

/** Folders in the cache; the executable in each is `chrome`. */
export const FOR_TESTING = 'chrome-for-testing';
export const FROM_NPM = `chrome-npm-${NPM_VERSION}`;

/**
 * Runs `--version` as Chrome's user, to check that the file fits this machine and is accessible.
 */
async function proveChrome(
  path: string,
  uid?: number,
): Promise<{ version: string } | { why: string }> {
  const { ok, stdout, why } = await runCommand(path, ['--version'], {
    timeoutMs: 20_000,
    cwd: '/',
    ...(uid === undefined ? {} : { uid }),
  });
  const version = /\d+(?:\.\d+){3}/.exec(stdout)?.[0];
  return ok && version ? { version } : { why: why || 'it is not Chrome' };
}

async function mustWork(path: string, uid?: number): Promise<void> {
  const proof = await proveChrome(path, uid);
  if ('why' in proof) throw new Error(proof.why);
}

/** Runs the source text of a module, which prints only the message of an error as its last line. */
const inNode = (script: string, folder: string, timeoutMs: number, env: NodeJS.ProcessEnv) => {
  const text = `try { ${script} } catch (error) { console.error(error.message); process.exit(1); }`;
  return runCommand(process.execPath, ['--input-type=module', '-e', text], {
    timeoutMs,
    idle: { folder, ms: 15_000 },
    env,
  });
};

/** Prints the path of the executable relative to the folder. */
const FOR_TESTING_SCRIPT = (folder: string) => `
const { install, resolveBuildId, detectBrowserPlatform, Browser } = await import(${JSON.stringify(import.meta.resolve('@puppeteer/browsers'))});
const platform = detectBrowserPlatform();
if (!platform) throw new Error('there is no build for this platform');
const browser = Browser.CHROMEHEADLESSSHELL;
const { executablePath } = await install({ browser, platform, buildId: await resolveBuildId(browser, platform, 'stable'), cacheDir: ${JSON.stringify(folder)} });
console.log(executablePath.slice(${folder.length + 1}));`;

/**
 * Installs the headless shell of Chrome for Testing. It includes no shared libraries: on a machine
 * without them this throws the error of the linker.
 */
export const installForTesting = (
  cache: string,
  env: NodeJS.ProcessEnv,
  uid?: number,
): Promise<string> =>
  installOnce(cache, FOR_TESTING, async folder => {
    const { ok, stdout, why } = await inNode(FOR_TESTING_SCRIPT(folder), folder, 600_000, env);
    if (!ok) throw new Error(why);
    await symlink(stdout.trim().split('\n').at(-1)!, join(folder, 'chrome'));
    await mustWork(join(folder, 'chrome'), uid);
  });

/**
 * Only its compressed files are unpacked; its JavaScript never runs. A new version needs a new hash
 * and a review of its contents.
 */
export const NPM_PACKAGE = `@sparticuz/chromium@${NPM_VERSION}`;
const NPM_SHA256 = '20e5656fcdcf4118ede85edfb9d6bb9cc1bbb7ffb8b75622fffbcf36a835c3c0';

/** Downloads the tarball of the package from the registry and returns its path. */
async function downloadPackage(folder: string, env: NodeJS.ProcessEnv): Promise<string> {
  const options = [
    '--ignore-scripts',
    '--loglevel=error',
    '--fetch-retries=1',
    '--fetch-retry-mintimeout=1000',
    '--fetch-timeout=60000',
  ];
  const npm = await runCommand(
    'npm',
    ['pack', '--pack-destination', folder, ...options, NPM_PACKAGE],
    {
      timeoutMs: 600_000,
      cwd: folder,
      env,
    },
  );
  if (!npm.ok) throw new Error(npm.why);
  const tarball = (await readdir(folder)).find(file => file.endsWith('.tgz'));
  if (!tarball) throw new Error('npm downloaded no package');
  return join(folder, tarball);
}

async function untar(file: string, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const { ok, why } = await runCommand('tar', ['-xf', file, '-C', folder, '--no-same-owner'], {
    timeoutMs: 120_000,
  });
  if (!ok) throw new Error(why);
}

const decompress = (file: string, target: string) =>
  pipeline(createReadStream(file), createBrotliDecompress(), createWriteStream(target));

/** Unpacks the executable and three archives. */
async function unpackChromium(from: string, to: string): Promise<void> {
  await decompress(join(from, 'chromium.br'), join(to, 'chromium'));
  await chmod(join(to, 'chromium'), 0o755);
  for (const [name, folder] of [
    ['fonts', 'fonts'],
    ['swiftshader', '.'],
    ['al2023', 'al2023'],
  ] as const) {
    const archive = join(from, `${name}.tar`);
    await decompress(`${archive}.br`, archive);
    await untar(archive, join(to, folder));
  }
}

/**
 * The fonts of the package are a fallback for those of the machine; its copies of NSS and Expat are
 * used only if the machine has none.
 */
const startScript = (withLibraries: boolean) => `#!/bin/sh
here=$(dirname "$(readlink -f "$0")")
export FONTCONFIG_FILE="$here/fonts.conf"
${withLibraries ? 'export LD_LIBRARY_PATH="$here/al2023/lib"\n' : ''}exec "$here/chromium" "$@"
`;

const FONTS_CONF = `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <include ignore_missing="yes">/etc/fonts/fonts.conf</include>
  <dir prefix="relative">fonts/fonts</dir>
  <cachedir prefix="xdg">fontconfig</cachedir>
</fontconfig>
`;

/**
 * Installs the headless shell from the npm package (x64). It is slower (15 instead of 24 renders/s)
 * but requires only npm and no root.
 */
export const installFromNpm = (
  cache: string,
  env: NodeJS.ProcessEnv,
  uid?: number,
): Promise<string> =>
  installOnce(cache, FROM_NPM, async folder => {
    const parts = join(folder, 'parts');
    await mkdir(parts);
    const tarball = await downloadPackage(parts, env);
    await mustHaveSha256(tarball, NPM_SHA256);
    await untar(tarball, parts);
    await unpackChromium(join(parts, 'package', 'bin'), folder);
    await rm(parts, { recursive: true, force: true });
    await writeFile(join(folder, 'fonts.conf'), FONTS_CONF);
    const start = join(folder, 'chrome');
    await writeFile(start, startScript(false), { mode: 0o755 });
    if ('version' in (await proveChrome(start, uid))) return;
    await writeFile(start, startScript(true));
    await mustWork(start, uid);
  });
