// The list of images of a release, and the bundle for networks without access to its registry: one
// archive with images, chart, signatures, SBOMs and instructions.
import { chmod, copyFile, cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sha256Of } from '../standalone/cache.ts';
import { type Published, type ReleaseSettings, repositoryOf } from './release-settings.ts';

/** One reference by digest in each line, such as `registry/pressroom-api:0.1.0@sha256:…`. */
export const imageList = (settings: ReleaseSettings, published: readonly Published[]): string =>
  published
    .map(
      ({ repository, tag, digest }) => `${repositoryOf(settings, repository)}:${tag}@${digest}\n`,
    )
    .join('');

/** Values of the chart that name each image by its digest. */
export const digestValues = ({ version }: ReleaseSettings, published: readonly Published[]) => ({
  image: Object.fromEntries(
    published
      .filter(({ platforms, tag }) => platforms.length > 0 && tag === version)
      .map(({ repository, digest }) => [repository.replace('pressroom-', ''), { digest }]),
  ),
});

/**
 * Copies images and chart with their signatures and attestations to one OCI layout for each
 * repository. Returns their names.
 */
async function copyToLayouts(
  settings: ReleaseSettings,
  published: readonly Published[],
  folder: string,
): Promise<string[]> {
  const http = settings.plainHttp ? ['--from-plain-http'] : [];
  const options = ['--recursive', '--no-tty', ...http, '--to-oci-layout'];
  const names: string[] = [];
  for (const { repository, tag, digest } of published) {
    const name = `${repository}:${tag}`;
    const source = `${repositoryOf(settings, repository)}@${digest}`;
    await settings.tools('oras', 'cp', ...options, source, join(folder, name));
    names.push(name);
  }
  return names;
}

const inAirgap = (file: string) => fileURLToPath(new URL(`airgap/${file}`, import.meta.url));

/** Writes `pressroom-VERSION-airgap.tar` to the folder of the release and returns its path. */
export async function writeBundle(
  settings: ReleaseSettings,
  published: readonly Published[],
  files: { chart: string; list: string; values: string; publicKey: string; sboms: string },
): Promise<string> {
  const { folder, version, tools } = settings;
  const name = `pressroom-${version}-airgap`;
  const content = join(folder, name);
  await mkdir(content);
  try {
    const names = await copyToLayouts(settings, published, join(content, 'images'));
    await writeFile(join(content, 'names.txt'), `${names.join('\n')}\n`);
    for (const file of [files.chart, files.list, files.values, files.publicKey])
      await copyFile(file, join(content, basename(file)));
    await cp(files.sboms, join(content, 'sbom'), { recursive: true });
    const readme = await readFile(inAirgap('README.md'), 'utf8');
    await writeFile(join(content, 'README.md'), readme.replaceAll('VERSION', version));
    await copyFile(inAirgap('load.sh'), join(content, 'load.sh'));
    await chmod(join(content, 'load.sh'), 0o755);
    const archive = `${content}.tar`;
    const reproducible = ['--sort=name', '--owner=0', '--group=0', '--numeric-owner'];
    await tools('tar', '--create', '--file', archive, '--directory', folder, ...reproducible, name);
    await writeFile(`${archive}.sha256`, `${await sha256Of(archive)}  ${name}.tar\n`);
    return archive;
  } finally {
    await rm(content, { recursive: true, force: true });
  }
}
