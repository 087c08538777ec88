// Builds the images of the Dockerfile with buildah, for each architecture that this machine runs.
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Notify } from '../standalone/run-command.ts';
import { RELEASE_IMAGES, type ReleaseImage, type ReleaseSettings } from './release-settings.ts';

export const REPOSITORY_ROOT: string = fileURLToPath(new URL('..', import.meta.url));

/** The architectures of a release, by the names of OCI and Debian. */
export const ARCHITECTURES = ['amd64', 'arm64'] as const;
export type Architecture = (typeof ARCHITECTURES)[number];

/** The architecture of this machine. */
export const MACHINE = ({ x64: 'amd64', arm64: 'arm64' } as const)[process.arch as 'x64' | 'arm64'];

/** The names that the kernel's binfmt_misc uses for QEMU. */
const EMULATORS: Record<Architecture, string> = { amd64: 'x86_64', arm64: 'aarch64' };

/**
 * Why images for `architecture` cannot be built here, if so: another architecture needs an emulator
 * that the kernel starts, also in a chroot (flag F). `folder` is that of binfmt_misc.
 */
export function whyNotBuilt(
  architecture: Architecture,
  folder = '/proc/sys/fs/binfmt_misc',
): string | undefined {
  if (architecture === MACHINE) return undefined;
  const file = `${folder}/qemu-${EMULATORS[architecture]}`;
  if (!existsSync(file))
    return `this machine is ${MACHINE}, and no emulator is registered (${file} does not exist)`;
  const state = readFileSync(file, 'utf8');
  if (!state.startsWith('enabled')) return `its emulator is disabled (${file})`;
  return /^flags: .*F/m.test(state)
    ? undefined
    : `its emulator does not work in a container (${file} has no flag F)`;
}

/** Caches each step, and runs steps without containers, which need more rights. */
export const BUILD_COMMAND: readonly string[] = ['bud', '--layers', '--isolation', 'chroot'];

/** The arguments of buildah that build a stage of the Dockerfile. `more` precedes the context. */
export const buildArguments = (
  target: string,
  tag: string,
  buildArgs: Readonly<Record<string, string>>,
  more: readonly string[] = [],
): string[] => [
  ...BUILD_COMMAND,
  ...Object.entries(buildArgs).flatMap(([name, value]) => ['--build-arg', `${name}=${value}`]),
  ...more,
  '--target',
  target,
  '--tag',
  tag,
  REPOSITORY_ROOT,
];

/** A built image for one architecture, by its name in buildah's store. */
export interface LocalImage {
  architecture: Architecture;
  local: string;
}

/** Builds all images. Reports why an architecture is skipped that cannot be built. */
export async function buildRelease(
  { tools, version, revision, buildOptions }: ReleaseSettings,
  notify: Notify,
): Promise<Map<ReleaseImage, LocalImage[]>> {
  const built = new Map<ReleaseImage, LocalImage[]>(RELEASE_IMAGES.map(image => [image, []]));
  for (const architecture of ARCHITECTURES) {
    const why = whyNotBuilt(architecture);
    if (why !== undefined) {
      notify(`skipped: ${architecture} images, because ${why}.`);
      continue;
    }
    for (const [image, locals] of built) {
      const local = `localhost/${image.name}:${version}${image.suffix}-${architecture}`;
      const args = { VERSION: version, REVISION: revision, ...image.buildArgs };
      notify(`Building ${image.name}${image.suffix} for ${architecture}.`);
      await tools(
        'buildah',
        ...buildArguments(image.target, local, args, [
          '--platform',
          `linux/${architecture}`,
          ...buildOptions,
        ]),
      );
      locals.push({ architecture, local });
    }
  }
  return built;
}
