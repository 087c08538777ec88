// `npm run check`: style, types, and whether generated files are current. Runs all steps even if
// one fails.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { staleFiles } from './generated.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

interface Step {
  name: string;
  /** The problem as text for the terminal; undefined on success. */
  run(): Promise<string | undefined>;
}

const program = (name: string, command: string, ...args: string[]): Step => ({
  name,
  run: async () => {
    const { status, stdout, stderr, error } = spawnSync(command, args, {
      cwd: ROOT,
      encoding: 'utf8',
    });
    return status === 0 ? undefined : `${stdout ?? ''}${stderr ?? ''}${error?.message ?? ''}`;
  },
});

const steps: Step[] = [
  program(
    'style (biome)',
    'biome',
    'ci',
    '--colors=off',
    '--error-on-warnings',
    '--diagnostic-level=warn',
    '.',
  ),
  program('types (tsc)', 'tsc', '-p', '.'),
  program('types of the dashboard (tsc)', 'tsc', '-p', 'dashboard'),
  {
    name: 'generated files',
    run: async () => {
      const stale = await staleFiles();
      return stale.length === 0
        ? undefined
        : `${stale.map(file => `  ${file} is out of date\n`).join('')}  Run \`npm run generate\`.\n`;
    },
  },
];

for (const { name, run } of steps) {
  const problem = await run();
  process.stdout.write(problem === undefined ? `ok    ${name}\n` : `fail  ${name}\n${problem}`);
  if (problem !== undefined) process.exitCode = 1;
}
