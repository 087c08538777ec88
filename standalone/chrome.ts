// Finds a Chrome or gets one without a human, in the order: PRESSROOM_CHROME, PATH, cache, apt,
// Chrome for Testing, npm. Starts nothing but for a proof.
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

export { proveChrome } from './chrome-downloads.ts';

const DEBIAN_PACKAGES = ['chromium-headless-shell', 'chromium-sandbox'];

/**
 * Fonts come with the Chrome that is installed here, not on a machine whose owner chose its Chrome.
 * Without them it goes on, and `doctor` names what is missing.
 */
async function installFromDebian(notify: Notify, env: NodeJS.ProcessEnv): Promise<void> {
  if (await aptInstall(DEBIAN_PACKAGES, notify, env))
    await aptInstall([...FONT_PACKAGES], notify, env);
}

/**
 * What is there already: the configured one, the first headless shell on PATH, a cached one.
 * Throws an Error when PRESSROOM_CHROME names a file that cannot be run.
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
 * `findInstalledChrome`, else installs one. `uid` is the user that Chrome will run as when this
 * process is root. Throws an Error with the fix when no way is left.
 */
export async function findOrInstallChrome(
  env: NodeJS.ProcessEnv,
  notify: Notify,
  uid?: number,
): Promise<string> {
  const cache = cacheFolder(env);
  const sources: Source[] = [
    ...(hasApt(env)
      ? [{ name: 'Debian’s packages', install: () => installFromDebian(notify, env) }]
      : []),
    { name: 'Chrome for Testing', install: () => installForTesting(cache, env, uid) },
    { name: `the npm package ${NPM_PACKAGE}`, install: () => installFromNpm(cache, env, uid) },
  ];
  const found = await findOrInstall('Chrome', () => findInstalledChrome(env), sources, notify);
  if (!found)
    throw new Error(
      'There is no Chrome and none could be installed. Install chromium-headless-shell (Debian) or Chrome, or set PRESSROOM_CHROME to its path.',
    );
  await mustBeOpen('Chrome', found, uid, 'PRESSROOM_CACHE_DIR or PRESSROOM_CHROME');
  return found;
}
