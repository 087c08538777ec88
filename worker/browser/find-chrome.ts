// Finds the Chrome that a worker runs: the configured one, otherwise the first on PATH by
// preference. Installing one is the task of standalone/.
import { accessSync, constants } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';

/** Headless shells only: see `isHeadlessShell`. */
export const CHROME_NAMES = ['chromium-headless-shell', 'chrome-headless-shell', 'headless-shell'];

/**
 * True for the product name of a headless shell (`Browser.getVersion`). A full browser reports
 * `Chrome/…` even when headless. It has no flag that keeps WebRTC behind the proxy, so its pages
 * can send UDP to private addresses (Chromium 156). It is also five times as slow.
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
 * The first of these programs on PATH, in the order of the names, or undefined. Relative folders on
 * PATH are skipped.
 */
export function findOnPath(names: readonly string[], env: NodeJS.ProcessEnv): string | undefined {
  const folders = (env.PATH ?? '').split(delimiter).filter(isAbsolute);
  return names.flatMap(name => folders.map(folder => join(folder, name))).find(executable);
}

/** An empty string counts as not configured. Throws an Error that names the next step. */
export function findChrome(configured: string | undefined): string {
  if (configured) {
    if (executable(configured)) return configured;
    throw new Error(`PRESSROOM_CHROME=${configured} does not exist or is not executable`);
  }
  const path = findOnPath(CHROME_NAMES, process.env);
  if (path) return path;
  throw new Error(
    `No Chrome headless shell found on PATH (${CHROME_NAMES.join(', ')}). Install one (Debian: chromium-headless-shell) or set PRESSROOM_CHROME.`,
  );
}
