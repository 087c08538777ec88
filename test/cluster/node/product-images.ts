// Exports the images of the product and of the tests as one OCI layout. The product's images have
// two tags with different digests, for upgrades.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Notify } from '../../../standalone/run-command.ts';
import { productImages, TARGETS } from '../built-product.ts';
import type { Images } from '../image-build.ts';
import {
  addMongodbImage,
  addPlainImage,
  fullName,
  MONGODB_TAG,
  nameForContainerd,
  PLAIN_IMAGE,
} from './test-images.ts';

export const TAGS = { first: 'one', next: 'two' } as const;

/** Writes the layout of the test images to `folder`, which is created, and returns its path. */
export async function exportTestImages(
  built: Images<string>,
  folder: string,
  notify: Notify,
): Promise<string> {
  await mkdir(folder, { recursive: true });
  const layout = join(folder, 'layout');
  await addPlainImage(built, folder);
  await addMongodbImage(built, folder, notify);
  await built.exportTo(layout, 'plain', PLAIN_IMAGE);
  await built.exportTo(layout, 'mongo', fullName('mongo', MONGODB_TAG));
  await nameForContainerd(layout);
  return layout;
}

/** Writes the layout, several GB, to `folder` and returns its path. */
export async function exportProduct(folder: string, notify: Notify): Promise<string> {
  const began = performance.now();
  const empty = join(folder, 'empty');
  await mkdir(empty);
  const built = await productImages();
  const layout = await exportTestImages(built, folder, notify);
  for (const target of TARGETS) {
    await built.add(
      `${target}-next`,
      `FROM localhost/${target}\nLABEL pressroom.dev/tests="${TAGS.next}"\n`,
      empty,
    );
    await built.exportTo(layout, target, fullName(`pressroom-${target}`, TAGS.first));
    await built.exportTo(layout, `${target}-next`, fullName(`pressroom-${target}`, TAGS.next));
  }
  await nameForContainerd(layout);
  notify(`The images were built in ${Math.round((performance.now() - began) / 1000)} s.`);
  return layout;
}
