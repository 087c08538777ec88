// The README with its generated parts made anew: what stands between a pair of `generated` marks comes from the sources.
import { readFile } from 'node:fs/promises';
import type { z } from 'zod';
import { apiVariables } from '../api/config.ts';
import { poolVariables, processVariables, variableMeta } from '../common/config.ts';
import { controllerVariables } from '../controller/config.ts';
import { workerVariables } from '../worker/config.ts';
import { allMetrics } from './all-metrics.ts';

const README = new URL('../README.md', import.meta.url);

const shared = new Set(Object.keys({ ...poolVariables.shape, ...processVariables.shape }));

const rows = (schema: z.ZodObject, leaveOut = new Set<string>()) =>
  Object.entries(schema.shape)
    .filter(([name]) => !leaveOut.has(name))
    .map(([name, type]) => {
      const { description, fallback, accepts } = variableMeta(type as z.ZodType)!;
      // The cores of the machine that generates would make this file differ from machine to machine.
      const shown = fallback === undefined || fallback === '' || name === 'PRESSROOM_SLOTS' ? '' : `\`${fallback}\``;
      return `| \`${name}\` | ${shown} | ${description} | ${accepts.replaceAll('NAME', name).replaceAll('|', '\\|')} |`;
    });

const table = (lines: string[]) => ['| variable | default | what it does | accepted |', '| --- | --- | --- | --- |', ...lines].join('\n');

const metrics = () => {
  const lines = allMetrics().map(
    ({ name, of, type, labels, help }) => `| \`${name}\` | ${of} | ${type} | ${labels.map(label => `\`${label}\``).join(', ')} | ${help} |`,
  );
  return ['| metric | of | type | labels | what it tells |', '| --- | --- | --- | --- | --- |', ...lines].join('\n');
};

const parts: Record<string, () => string> = {
  'every process': () => table(rows(processVariables)),
  'API and workers': () => table(rows(poolVariables)),
  API: () => table(rows(apiVariables, shared)),
  worker: () => table(rows(workerVariables, shared)),
  controller: () => table(rows(controllerVariables, shared)),
  metrics,
};

export async function readme(): Promise<string> {
  let text = await readFile(README, 'utf8');
  for (const [name, make] of Object.entries(parts)) {
    const [open, close] = [`<!-- generated: ${name} -->`, `<!-- end: ${name} -->`];
    const [from, to] = [text.indexOf(open), text.indexOf(close)];
    if (from < 0 || to < from) throw new Error(`README.md has no marks ${open} … ${close}`);
    text = `${text.slice(0, from + open.length)}\n${make()}\n${text.slice(to)}`;
  }
  return text;
}
