// Generates the chart's values.yaml: each value with its default and its description as a comment.
import { stringify } from 'yaml';
import { z } from 'zod';
import { valueSections } from './values.ts';

const WIDTH = 120;

/** The type of a value without its default and optional wrappers. */
export function unwrapped(type: z.ZodType): {
  inner: z.ZodType;
  fallback: unknown;
  isGroup: boolean;
} {
  if (type instanceof z.ZodPrefault) {
    const { inner } = unwrapped(type.unwrap() as z.ZodType);
    return { inner, fallback: type.def.defaultValue, isGroup: inner instanceof z.ZodObject };
  }
  if (type instanceof z.ZodDefault)
    return { inner: type.unwrap() as z.ZodType, fallback: type.def.defaultValue, isGroup: false };
  if (type instanceof z.ZodOptional)
    return { inner: type.unwrap() as z.ZodType, fallback: undefined, isGroup: false };
  return { inner: type, fallback: undefined, isGroup: type instanceof z.ZodObject };
}

function comment(text: string, indent: string): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ').filter(part => part !== '')) {
    if (line !== '' && indent.length + line.length + word.length + 3 > WIDTH) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, ...(line === '' ? [] : [line])].map(each => `${indent}# ${each}`);
}

/** Empty maps and lists are on the line of the name, all others below it. */
function leaf(name: string, value: unknown, indent: string): string[] {
  const text = stringify({ [name]: value }, { indent: 2, lineWidth: 0, version: '1.1' }).trimEnd();
  return text.split('\n').map(line => `${indent}${line}`);
}

function write(
  shape: Record<string, z.ZodType>,
  indent: string,
  given: Record<string, unknown>,
): string[] {
  return Object.entries(shape).flatMap(([name, type]) => {
    const { inner, fallback, isGroup } = unwrapped(type);
    const header = [...(indent === '' ? [''] : []), ...comment(type.description ?? '', indent)];
    const value = given[name] ?? fallback;
    if (isGroup) {
      const below = (inner as z.ZodObject).shape as Record<string, z.ZodType>;
      return [
        ...header,
        `${indent}${name}:`,
        ...write(below, `${indent}  `, (value ?? {}) as Record<string, unknown>),
      ];
    }
    return [
      ...header,
      ...(value === undefined ? [`${indent}# ${name}:`] : leaf(name, value, indent)),
    ];
  });
}

export function valuesYaml(): string {
  const lines = valueSections().flatMap(({ title, shape }) => [
    '',
    `# ${'-'.repeat(WIDTH - 2)}`,
    `# ${title}`,
    `# ${'-'.repeat(WIDTH - 2)}`,
    ...write(shape, '', {}),
  ]);
  return `${['# Default values for the pressroom chart. Generated from tools/chart/ by `npm run generate`; do not edit.', ...lines].join('\n')}\n`;
}
