// Builds the programs of a Go module in one call of `go`, from its version number.
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { type RunOptions, runCommand } from '../../../standalone/run-command.ts';
import type { GoModule } from './versions.ts';

/** Time limit. A cold build of Kubernetes took 23 minutes on two busy cores. */
const BUILD_MS = 3_600_000;

interface GoMod {
  Go: string;
  Replace: { Old: { Path: string }; New: { Path: string; Version?: string } }[] | null;
}

/**
 * The file name that `go build -o folder/` uses for a package. A trailing major version is ignored.
 */
const builtName = (from: string) => basename(/\/v\d+$/.test(from) ? dirname(from) : from);

/**
 * Builds the programs of `module` into `folder`. Throws an Error with the output of `go`. There is
 * no go.mod in the repository, because the versions of all dependencies follow from the module's
 * own go.mod, and `go` verifies downloads with the checksum database.
 */
export async function buildModule(
  module: GoModule,
  folder: string,
  onOutput: NonNullable<RunOptions['onOutput']>,
): Promise<void> {
  const work = await mkdtemp(join(tmpdir(), 'pressroom-go-'));
  // A higher GOGC saves a fifth of the compiler's CPU time.
  const env = { ...process.env, CGO_ENABLED: '0', GOFLAGS: '', GOGC: '400', GOWORK: 'off' };
  const go = async (...args: string[]) => {
    const { ok, stdout, why } = await runCommand('go', args, {
      timeoutMs: BUILD_MS,
      cwd: work,
      env,
      onOutput,
    });
    if (!ok) throw new Error(`go ${args[0]} of ${module.path} ${module.version}: ${why}`);
    return stdout;
  };
  try {
    await writeFile(join(work, 'go.mod'), await goMod(module, go));
    for (const { from, source } of module.programs) {
      if (source === undefined) continue;
      await mkdir(join(work, from));
      await writeFile(join(work, from, 'main.go'), source);
    }
    const linked = Object.entries(module.variables).map(([name, value]) => `-X ${name}=${value}`);
    // Without debug information, which would be stripped anyway.
    const flags = [
      '-mod=mod',
      '-trimpath',
      '-gcflags=all=-dwarf=false',
      '-buildvcs=false',
      '-ldflags',
      ['-s', '-w', ...linked].join(' '),
    ];
    await go('build', ...flags, '-o', `${folder}/`, ...module.programs.map(({ from }) => from));
    for (const { name, from } of module.programs)
      if (builtName(from) !== name) await rename(join(folder, builtName(from)), join(folder, name));
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function goMod(
  { path, version, beside }: GoModule,
  go: (...args: string[]) => Promise<string>,
): Promise<string> {
  const { GoMod: file } = JSON.parse(
    await go('mod', 'download', '-json', `${path}@${version}`),
  ) as { GoMod: string };
  const original = JSON.parse(await go('mod', 'edit', '-json', file)) as GoMod;
  // `go` only applies replacements of the main module, so those of the release are repeated here.
  const replacements = (original.Replace ?? []).map(({ Old, New }) => {
    if (New.Version) return `replace ${Old.Path} => ${New.Path} ${New.Version}`;
    if (!beside || !Old.Path.startsWith(beside.prefix))
      throw new Error(`${path} ${version} replaces ${Old.Path} by a local folder`);
    return `replace ${Old.Path} => ${Old.Path} ${beside.version}`;
  });
  const godebug = /^godebug .*$/m.exec(await readFile(file, 'utf8'));
  return [
    'module pressroom.test',
    `go ${original.Go}`,
    ...(godebug ?? []),
    `require ${path} ${version}`,
    ...replacements,
    '',
  ].join('\n');
}
