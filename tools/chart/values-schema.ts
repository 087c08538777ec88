// Generates the chart's values.schema.json: names, types, bounds and choices, which Helm and editors
// check. Formats and relations are in value-rules.ts.
import { z } from 'zod';
import { chartValues } from './values.ts';

const LINE_WIDTH = 140;

type Json = { [key: string]: unknown };

/** Removes the bounds of safe integers, and the defaults, which values.yaml contains. */
function plain(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(plain);
  if (typeof node !== 'object' || node === null) return node;
  return Object.fromEntries(
    Object.entries(node as Json)
      .filter(
        ([key, value]) =>
          !(
            (key === 'minimum' || key === 'maximum') &&
            Math.abs(value as number) === Number.MAX_SAFE_INTEGER
          ),
      )
      .filter(([key]) => key !== 'default' && !key.startsWith('x-') && key !== 'propertyNames')
      .map(([key, value]) => [key, plain(value)]),
  );
}

/** Formats JSON as biome does: lists of scalars are on one line if they fit. */
export function writtenJson(node: unknown, indent = '', before = 0): string {
  if (typeof node !== 'object' || node === null) return JSON.stringify(node);
  const open = Array.isArray(node) ? '[' : '{';
  const close = Array.isArray(node) ? ']' : '}';
  const below = `${indent}  `;
  if (Array.isArray(node)) {
    const line = `[${node.map(each => JSON.stringify(each)).join(', ')}]`;
    if (node.every(each => typeof each !== 'object') && before + line.length + 1 <= LINE_WIDTH)
      return line;
  }
  const entries = Array.isArray(node)
    ? node.map(each => `${below}${writtenJson(each, below, below.length)}`)
    : Object.entries(node).map(
        ([key, value]) =>
          `${below}${JSON.stringify(key)}: ${writtenJson(value, below, below.length + key.length + 4)}`,
      );
  return entries.length === 0
    ? `${open}${close}`
    : `${open}\n${entries.join(',\n')}\n${indent}${close}`;
}

export function valuesSchema(): string {
  // All releases of Helm 3 support draft 7.
  return `${writtenJson(plain(z.toJSONSchema(chartValues, { target: 'draft-7', io: 'input', unrepresentable: 'any' })))}\n`;
}
