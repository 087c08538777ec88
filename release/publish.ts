// Pushes images and the chart to a registry.
import { cp, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { parseDocument } from 'yaml';
import { sha256Of } from '../standalone/cache.ts';
import { type LocalImage, REPOSITORY_ROOT } from './build-image.ts';
import {
  CHART_REPOSITORY,
  type Published,
  type ReleaseImage,
  type ReleaseSettings,
  repositoryOf,
} from './release-settings.ts';

/** Fetches a manifest from the registry. oras compares it with the digest in the reference. */
const manifestAt = async ({ tools, plainHttp }: ReleaseSettings, reference: string) => {
  const http = plainHttp ? ['--plain-http'] : [];
  return JSON.parse(await tools('oras', 'manifest', 'fetch', ...http, reference));
};

/**
 * Pushes an image index with one entry for each architecture. The digest comes from buildah, not
 * from the tag, which another process can move before it is signed.
 */
export async function pushImage(
  settings: ReleaseSettings,
  { name, suffix }: ReleaseImage,
  locals: readonly LocalImage[],
): Promise<Published> {
  const { tools, folder, plainHttp } = settings;
  const tag = `${settings.version}${suffix}`;
  const repository = repositoryOf(settings, name);
  const digestFile = join(folder, 'digest');
  const list = `localhost/index/${name}:${tag}`;
  await tools('buildah', 'manifest', 'create', list);
  try {
    for (const { local } of locals)
      await tools('buildah', 'manifest', 'add', list, `containers-storage:${local}`);
    await tools(
      'buildah',
      'manifest',
      'push',
      '--quiet',
      '--all',
      '--format',
      'oci',
      '--digestfile',
      digestFile,
      `--tls-verify=${!plainHttp}`,
      list,
      `docker://${repository}:${tag}`,
    );
  } finally {
    await tools('buildah', 'manifest', 'rm', list);
  }
  const digest = (await readFile(digestFile, 'utf8')).trim();
  await rm(digestFile);
  const index: { manifests: { digest: string; platform: { architecture: string } }[] } =
    await manifestAt(settings, `${repository}@${digest}`);
  const platforms = index.manifests.map(({ digest, platform }) => ({
    architecture: platform.architecture,
    digest,
  }));
  return { repository: name, tag, digest, platforms };
}

/**
 * Packages the chart with the registry of its images as the default, and pushes it. Also returns
 * the file of the package. Throws an Error if the tag then contains another chart.
 */
export async function pushChart(
  settings: ReleaseSettings,
): Promise<{ chart: Published; file: string }> {
  const { tools, folder, version, registry, plainHttp } = settings;
  const copy = join(folder, 'pressroom');
  await cp(join(REPOSITORY_ROOT, 'charts/pressroom'), copy, { recursive: true });
  const values = parseDocument(await readFile(join(copy, 'values.yaml'), 'utf8'));
  values.setIn(['image', 'registry'], registry);
  await writeFile(join(copy, 'values.yaml'), values.toString({ lineWidth: 0 }));
  const versions = ['--version', version, '--app-version', version];
  await tools('helm', 'package', copy, '--destination', folder, ...versions);
  await rm(copy, { recursive: true });
  const file = join(folder, `pressroom-${version}.tgz`);
  const repository = repositoryOf(settings, CHART_REPOSITORY);
  const http = plainHttp ? ['--plain-http'] : [];
  await tools('helm', 'push', file, `oci://${dirname(repository)}`, ...http);
  const digest = (await tools('oras', 'resolve', ...http, `${repository}:${version}`)).trim();
  const { layers } = await manifestAt(settings, `${repository}@${digest}`);
  if (layers[0].digest !== `sha256:${await sha256Of(file)}`)
    throw new Error(`${repository}:${version} is not the chart that was pushed`);
  const chart = { repository: CHART_REPOSITORY, tag: version, digest, platforms: [] };
  return { chart, file };
}
