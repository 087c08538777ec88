// Builds the images of the Dockerfile with buildah in a separate store, and mounts their file
// systems.
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { BUILD_COMMAND, buildArguments } from '../../release/build-image.ts';
import { aptInstall } from '../../standalone/apt.ts';
import { cacheFolder, findOnPath } from '../../standalone/cache.ts';
import { type Notify, runCommand } from '../../standalone/run-command.ts';
import { debianBase } from './debian-base.ts';

export interface Image {
  /** The mounted root of its file system. */
  root: string;
  /** Total size of its files. */
  bytes: number;
  config: {
    User: string;
    Env: string[];
    Entrypoint: string[];
    Labels: Record<string, string>;
    ExposedPorts: Record<string, unknown>;
    WorkingDir: string;
  };
}

/** Why images cannot be built on this machine, if so. Installs missing packages if possible. */
export async function whyNoImages(notify: Notify): Promise<string | undefined> {
  if (process.getuid?.() !== 0) return 'building and mounting images requires root';
  const missing = ['buildah', 'debootstrap'].filter(name => !findOnPath([name], process.env));
  if (missing.length > 0 && !(await aptInstall([...missing, 'debian-archive-keyring'], notify)))
    return `${missing.join(' and ')} ${missing.length > 1 ? 'are' : 'is'} not installed, and apt could not install the package`;
  const { ok, why } = await runCommand('unshare', ['--mount', '--pid', '--fork', 'true'], {
    timeoutMs: 10_000,
  });
  return ok ? undefined : `cannot create namespaces: ${why}`;
}

/** Keeps downloaded packages for the next build. Concurrent builds may share them. */
const KEEP_PACKAGES = `#clear DPkg::Post-Invoke;
Binary::apt-get::APT::Keep-Downloaded-Packages "true";
Debug::NoLocking "true";
`;

/**
 * Volumes of the build: persistent caches, and the CA certificate of a TLS inspecting proxy, if
 * any. The image contains only their empty mount points.
 */
async function volumes(folder: string, cache: string): Promise<string[]> {
  const [packages, npm, apt] = [
    join(cache, 'image-packages'),
    join(cache, 'image-npm'),
    join(folder, 'keep-packages'),
  ];
  await mkdir(join(packages, 'partial'), { recursive: true });
  await mkdir(npm, { recursive: true });
  await writeFile(apt, KEEP_PACKAGES);
  const caFile = process.env.NODE_EXTRA_CA_CERTS ?? process.env.SSL_CERT_FILE;
  return [
    `${packages}:/var/cache/apt/archives`,
    `${npm}:/var/cache/npm`,
    `${apt}:/etc/apt/apt.conf.d/zz-keep-packages:ro`,
    ...(caFile ? [`${caFile}:/usr/local/share/ca-certificates/of-this-machine.crt:ro`] : []),
  ].flatMap(volume => ['--volume', volume]);
}

export interface Images<Target extends string> {
  images: Record<Target, Image>;
  /** The options of buildah that select the store. */
  store: readonly string[];
  /** The options of `buildah bud` for the replaced base image and the caches. */
  buildOptions: readonly string[];
  /** Builds and mounts a target with other arguments, under another name in `images`. */
  addVariant(name: string, target: Target, buildArgs: Record<string, string>): Promise<void>;
  /** Builds another image, which may be based on an existing one (`FROM api`). */
  add(name: string, dockerfile: string, context: string): Promise<void>;
  /** Exports an image to an OCI layout under a full name such as `docker.io/library/api:one`. */
  exportTo(layout: string, image: string, name: string): Promise<void>;
  /** Unmounts the file systems and removes the store. */
  remove(): Promise<void>;
}

/** Builds `targets` in `folder`, which needs several GB. Errors name the log file of buildah. */
export async function buildImages<Target extends string>(
  targets: readonly Target[],
  folder: string,
  buildArgs: Record<string, string>,
): Promise<Images<Target>> {
  const cache = cacheFolder(process.env);
  await mkdir(cache, { recursive: true });
  const logFile = join(cache, 'images.log');
  const log = createWriteStream(logFile);
  const onOutput = (chunk: Buffer) => log.write(chunk);
  const store = ['--root', join(folder, 'root'), '--runroot', join(folder, 'run')];
  const buildah = async (...args: string[]) => {
    const { ok, stdout, why } = await runCommand('buildah', [...store, ...args], {
      timeoutMs: 1_200_000,
      onOutput,
    });
    if (!ok) throw new Error(`buildah ${args[0]}: ${why} (log: ${logFile})`);
    return stdout.trim();
  };
  const remove = async () => {
    await buildah('umount', '--all');
    await buildah('rm', '--all');
    log.end();
    await once(log, 'close');
    await rm(folder, { recursive: true, force: true, maxRetries: 10 });
  };
  try {
    const scratch = await buildah('from', 'scratch');
    await buildah('add', '--quiet', scratch, await debianBase(cache, onOutput), '/');
    await buildah('config', '--cmd', 'bash', scratch);
    await buildah('commit', '--quiet', '--rm', scratch, 'docker.io/library/debian:bookworm-slim');
    const base = ['--pull-never', '--build-arg', 'BASE=debian:bookworm-slim'];
    const options = [...base, ...(await volumes(folder, cache))];
    const images: Record<string, Image> = {};
    const build = async (name: string, target: Target, more: Record<string, string>) => {
      await buildah(...buildArguments(target, name, { ...buildArgs, ...more }, options));
      const { config } = JSON.parse(
        await buildah('inspect', '--type', 'image', '--format', '{{.Config}}', name),
      );
      const root = await buildah('mount', await buildah('from', name));
      const { stdout } = await runCommand(
        'du',
        ['--summarize', '--bytes', '--one-file-system', root],
        { timeoutMs: 60_000 },
      );
      images[name] = { config, root, bytes: Number.parseInt(stdout, 10) };
    };
    for (const target of targets) await build(target, target, {});
    const add = async (name: string, dockerfile: string, context: string) => {
      const file = join(folder, `${name}.Dockerfile`);
      await writeFile(file, dockerfile);
      await buildah(...BUILD_COMMAND, ...options, '--file', file, '--tag', name, context);
    };
    const exportTo = async (layout: string, image: string, name: string) => {
      await buildah(
        'push',
        '--quiet',
        '--compression-format',
        'zstd',
        '--compression-level',
        '1',
        image,
        `oci:${layout}:${name}`,
      );
    };
    return { images, store, buildOptions: options, addVariant: build, add, exportTo, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}
