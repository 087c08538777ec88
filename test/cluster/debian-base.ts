// Replaces the base image `debian:bookworm-slim` without a registry: the same Debian from its
// mirrors, built with debootstrap and cached.
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { installOnce } from '../../standalone/cache.ts';
import { type RunOptions, runCommand } from '../../standalone/run-command.ts';

const KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg';
/** Configuration folder of apt. */
const SOURCES = '/etc/apt';

/** The first mirror of an archive (`debian`, `debian-security`) in the apt sources. */
async function mirrorOf(archive: string): Promise<string> {
  const more = (await readdir(join(SOURCES, 'sources.list.d')).catch(() => [])).map(file =>
    join('sources.list.d', file),
  );
  const files = ['sources.list', ...more].map(file =>
    readFile(join(SOURCES, file), 'utf8').catch(() => ''),
  );
  const [uri] =
    new RegExp(`^[^#\\n]*?(https?://\\S+/${archive})/?(?=\\s|$)`, 'm')
      .exec((await Promise.all(files)).join('\n'))
      ?.slice(1) ?? [];
  if (!uri) throw new Error(`the apt sources of this machine contain no mirror of ${archive}`);
  return uri;
}

const source = async (archive: string, suites: string) =>
  `Types: deb\nURIs: ${await mirrorOf(archive)}\nSuites: ${suites}\nComponents: main\nSigned-By: ${KEYRING}\n`;

/** Configuration of the official image: no manuals, translations or cached packages. */
const filesOf = async () => ({
  'etc/apt/sources.list.d/debian.sources': [
    await source('debian', 'bookworm bookworm-updates'),
    await source('debian-security', 'bookworm-security'),
  ].join('\n'),
  'etc/apt/apt.conf.d/docker-clean': `DPkg::Post-Invoke { "rm -f /var/cache/apt/archives/*.deb /var/cache/apt/*.bin || true"; };
Dir::Cache::pkgcache "";
Dir::Cache::srcpkgcache "";
`,
  'etc/dpkg/dpkg.cfg.d/docker': `path-exclude /usr/share/doc/*
path-include /usr/share/doc/*/copyright
path-exclude /usr/share/info/*
path-exclude /usr/share/locale/*
path-exclude /usr/share/man/*
`,
  'etc/dpkg/dpkg.cfg.d/docker-apt-speedup': 'force-unsafe-io\n',
});

/** Files of the host, and files that an image does not need. */
const SUPERFLUOUS = [
  'etc/apt/sources.list',
  'etc/hostname',
  'etc/resolv.conf',
  'usr/share/doc',
  'usr/share/info',
  'usr/share/locale',
  'usr/share/man',
  'var/cache/apt/pkgcache.bin',
  'var/cache/apt/srcpkgcache.bin',
  'var/lib/apt/lists',
  'var/log/bootstrap.log',
];

/** A tar file of Debian 12, built at the first call. Requires root and debootstrap. */
export async function debianBase(
  cache: string,
  onOutput: NonNullable<RunOptions['onOutput']>,
): Promise<string> {
  const files = await filesOf();
  const name = `debian-bookworm-${process.arch}-${createHash('sha256').update(JSON.stringify(files)).digest('hex').slice(0, 16)}`;
  const file = join(cache, name, 'base.tar');
  if (existsSync(file)) return file;
  await installOnce(cache, name, async folder => {
    const root = join(folder, 'root');
    const run = async (command: string, ...args: string[]) => {
      const { ok, why } = await runCommand(command, args, { timeoutMs: 600_000, onOutput });
      if (!ok) throw new Error(`${command} failed: ${why}`);
    };
    await run('debootstrap', '--variant=minbase', 'bookworm', root, await mirrorOf('debian'));
    for (const path of SUPERFLUOUS) await rm(join(root, path), { recursive: true, force: true });
    await run('sh', '-c', `rm -f ${root}/var/cache/apt/archives/*.deb`);
    for (const [path, text] of Object.entries(files)) await writeFile(join(root, path), text);
    await mkdir(join(root, 'var/lib/apt/lists'));
    await run('tar', '-cf', join(folder, 'base.tar'), '-C', root, '.');
    await rm(root, { recursive: true });
  });
  return file;
}
