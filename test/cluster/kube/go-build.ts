// Builds the programs of a Go module in one call of `go`, from its version number alone.
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { type RunOptions, runCommand } from '../../../standalone/run-command.ts';
import type { GoModule } from './versions.ts';

/** A cold build of Kubernetes took 23 minutes on two cores that all tests used too. */
const BUILD_MS = 3_600_000;

interface GoMod {
  Go: string;
  Replace: { Old: { Path: string }; New: { Path: string; Version?: string } }[] | null;
}

/**
 * What `go build -o folder/` calls the program of a package: a last part that only tells the major
 * version does not count.
 */
const builtName = (from: string) => basename(/\/v\d+$/.test(from) ? dirname(from) : from);

/**
 * Puts the programs of `module` into `folder`. Throws an Error that says what `go` said.
 *
 * There is no go.mod of ours in the repository: it would repeat the version numbers, and its go.sum
 * some thousand lines that nobody reads. The versions of all that a module needs follow from its
 * own go.mod, the same on each machine, and `go` checks what it fetches against the public record
 * of checksums.
 */
export async function buildModule(
  module: GoModule,
  folder: string,
  onOutput: NonNullable<RunOptions['onOutput']>,
): Promise<void> {
  const work = await mkdtemp(join(tmpdir(), 'pressroom-go-'));
  // With room for garbage the compiler needs a fifth less of the processor.
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
    // Without debug information, which the linker would drop: the compiler need not make it.
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
  const theirs = JSON.parse(await go('mod', 'edit', '-json', file)) as GoMod;
  // Only the main module's replacements count, so those of a release are repeated here.
  const replacements = (theirs.Replace ?? []).map(({ Old, New }) => {
    if (New.Version) return `replace ${Old.Path} => ${New.Path} ${New.Version}`;
    if (!beside || !Old.Path.startsWith(beside.prefix))
      throw new Error(`${path} ${version} replaces ${Old.Path} by a folder of its own`);
    return `replace ${Old.Path} => ${Old.Path} ${beside.version}`;
  });
  const godebug = /^godebug .*$/m.exec(await readFile(file, 'utf8'));
  return [
    'module pressroom.test',
    `go ${theirs.Go}`,
    ...(godebug ?? []),
    `require ${path} ${version}`,
    ...replacements,
    '',
  ].join('\n');
}
