// Updates the table of values in the chart's README.
import { readFile } from 'node:fs/promises';
import type { z } from 'zod';
import { valueSections } from './values.ts';
import { unwrapped } from './values-yaml.ts';

const README = new URL('../../charts/pressroom/README.md', import.meta.url);
const OPEN = '<!-- generated: values -->';
const CLOSE = '<!-- end: values -->';

const cell = (text: string) => text.replaceAll('|', '\\|');

function rows(
  shape: Record<string, z.ZodType>,
  before: string,
  given: Record<string, unknown>,
): string[] {
  return Object.entries(shape).flatMap(([name, type]) => {
    const { inner, fallback, isGroup } = unwrapped(type);
    const value = given[name] ?? fallback;
    const path = `${before}${name}`;
    if (isGroup)
      return [
        `| **\`${path}\`** | | ${cell(type.description ?? '')} |`,
        ...rows(
          (inner as z.ZodObject).shape as Record<string, z.ZodType>,
          `${path}.`,
          (value ?? {}) as Record<string, unknown>,
        ),
      ];
    const shown = value === undefined || value === '' ? '' : `\`${cell(JSON.stringify(value))}\``;
    return [`| \`${path}\` | ${shown} | ${cell(type.description ?? '')} |`];
  });
}

export async function chartReadme(): Promise<string> {
  const text = await readFile(README, 'utf8');
  const [from, to] = [text.indexOf(OPEN), text.indexOf(CLOSE)];
  if (from < 0 || to < from)
    throw new Error(`charts/pressroom/README.md must contain the markers ${OPEN} and ${CLOSE}`);
  const tables = valueSections().map(({ title, shape }) =>
    [
      `### ${title}`,
      '',
      '| Value | Default | Description |',
      '| --- | --- | --- |',
      ...rows(shape, '', {}),
    ].join('\n'),
  );
  return `${text.slice(0, from + OPEN.length)}\n\n${tables.join('\n\n')}\n\n${text.slice(to)}`;
}
