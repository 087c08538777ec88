// The steps of a release, in order. `main.ts` builds the images first; the tests bring theirs.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { Notify } from '../standalone/run-command.ts';
import type { LocalImage } from './build-image.ts';
import { digestValues, imageList, writeBundle } from './bundle.ts';
import { pushChart, pushImage } from './publish.ts';
import type { Published, ReleaseImage, ReleaseSettings } from './release-settings.ts';
import { attachSboms, Signer, signAndAttest } from './sign.ts';

export interface Release {
  images: Published[];
  chart: Published;
  /** Paths of the results. */
  bundle: string;
  values: string;
  list: string;
  publicKey: string;
}

/** Pushes, signs and bundles images that were built since `startedOn`, and the chart. */
export async function release(
  settings: ReleaseSettings,
  built: ReadonlyMap<ReleaseImage, LocalImage[]>,
  startedOn: Date,
  notify: Notify,
): Promise<Release> {
  const signer = await Signer.create(settings);
  const times = {
    startedOn: startedOn.toISOString(),
    finishedOn: new Date().toISOString(),
  };
  const images: Published[] = [];
  for (const [image, locals] of built) {
    notify(`Pushing and signing ${image.name}${image.suffix}.`);
    const published = await pushImage(settings, image, locals);
    await signAndAttest(settings, signer, published, times);
    await attachSboms(settings, signer, published, locals, times.finishedOn);
    images.push(published);
  }
  notify('Pushing and signing the chart.');
  const { chart, file } = await pushChart(settings);
  await signAndAttest(settings, signer, chart, times);

  const inFolder = (name: string) => join(settings.folder, name);
  const list = inFolder('images.txt');
  await writeFile(list, imageList(settings, [...images, chart]));
  const values = inFolder('digests.yaml');
  await writeFile(values, stringify(digestValues(settings, images)));
  const publicKey = inFolder('cosign.pub');
  await signer.writePublicKey(publicKey);
  notify('Writing the bundle for networks without access to the registry.');
  const files = { chart: file, list, values, publicKey, sboms: inFolder('sbom') };
  const bundle = await writeBundle(settings, [...images, chart], files);
  await signer.signFile(bundle);
  return { images, chart, bundle, values, list, publicKey };
}
