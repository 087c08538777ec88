// `npm run check`: what needs no running part — style, types, and that generated files are current.
// All steps run, so that one round shows everything.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { staleFiles } from './generated.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

interface Step {
  name: string;
  /** What is wrong, as the person should see it; undefined when nothing is. */
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
  program('types of the page (tsc)', 'tsc', '-p', 'dashboard'),
  {
    name: 'generated files',
    run: async () => {
      const stale = await staleFiles();
      return stale.length === 0
        ? undefined
        : `${stale.map(file => `  ${file} is not current\n`).join('')}  \`npm run generate\` mends it.\n`;
    },
  },
];

for (const { name, run } of steps) {
  const wrong = await run();
  process.stdout.write(wrong === undefined ? `ok    ${name}\n` : `fail  ${name}\n${wrong}`);
  if (wrong !== undefined) process.exitCode = 1;
}
