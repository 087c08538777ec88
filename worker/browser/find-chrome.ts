// Which Chrome a worker runs: the configured one, else the first on PATH by preference. Installing
// one is the standalone's.
import { accessSync, constants } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';

/** No full browser: see `isHeadlessShell`. */
export const CHROME_NAMES = ['chromium-headless-shell', 'chrome-headless-shell', 'headless-shell'];

/**
 * True for what a headless shell says of itself (`Browser.getVersion`); a full browser says
 * `Chrome/…`, without a screen as well. It knows no command line that keeps WebRTC behind the
 * proxy: pages sent UDP to private addresses from it (seen on Chromium 156). It is also five times
 * as slow.
 */
export const isHeadlessShell = (product: string): boolean => product.startsWith('HeadlessChrome/');

const executable = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

/**
 * The first of these programs on PATH, in the order of the names, or undefined. Folders of PATH
 * that are relative are passed over.
 */
export function findOnPath(names: readonly string[], env: NodeJS.ProcessEnv): string | undefined {
  const folders = (env.PATH ?? '').split(delimiter).filter(isAbsolute);
  return names.flatMap(name => folders.map(folder => join(folder, name))).find(executable);
}

/** Empty is as good as not configured. Throws an Error that says what to do when there is none. */
export function findChrome(configured: string | undefined): string {
  if (configured) {
    if (executable(configured)) return configured;
    throw new Error(`PRESSROOM_CHROME=${configured} is not there or cannot be executed`);
  }
  const path = findOnPath(CHROME_NAMES, process.env);
  if (path) return path;
  throw new Error(
    `no Chrome on PATH (looked for ${CHROME_NAMES.join(', ')}); install one (Debian: chromium-headless-shell), or set PRESSROOM_CHROME`,
  );
}
