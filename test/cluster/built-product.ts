// Builds the images of the product once per test run, because a build takes minutes.
import { readFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildImages, type Images } from './image-build.ts';

export const TARGETS = ['api', 'worker', 'controller'] as const;
export type Target = (typeof TARGETS)[number];

/** The version and revision in the image labels. */
export const VERSION = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
).version as string;
export const REVISION = 'f00d';

let building: Promise<Images<Target>> | undefined;

/** Builds the images at the first call. All suites share the store until the end of the run. */
export function productImages(): Promise<Images<Target>> {
  building ??= mkdtemp(join(tmpdir(), 'pressroom-test-images-')).then(folder =>
    buildImages(TARGETS, folder, { VERSION, REVISION }),
  );
  return building;
}

/** Call after all suites. */
export async function removeProductImages(): Promise<void> {
  const built = await building?.catch(() => undefined);
  building = undefined;
  await built?.remove();
}
