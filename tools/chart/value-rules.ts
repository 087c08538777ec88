// Generates the chart's files/value-rules.json: the formats of values and the relations between
// them, which templates/_checks.tpl applies when the chart is rendered.
import { z } from 'zod';
import { formats, type ValueCheck, type ValueRelation } from './formats.ts';
import { chartValues } from './values.ts';
import { writtenJson } from './values-schema.ts';
import { unwrapped } from './values-yaml.ts';

interface Checks {
  'x-checks'?: ValueCheck[];
  'x-relations'?: ValueRelation[];
}

type AtPath<T> = T & { path: string };

const joined = (...names: (string | undefined)[]) => names.filter(Boolean).join('.');

function rulesBelow(
  shape: Record<string, z.ZodType>,
  before: string,
): { checks: AtPath<ValueCheck>[]; relations: AtPath<ValueRelation>[] } {
  const checks: AtPath<ValueCheck>[] = [];
  const relations: AtPath<ValueRelation>[] = [];
  for (const [name, type] of Object.entries(shape)) {
    const path = joined(before, name);
    const meta = (type.meta() ?? {}) as Checks;
    for (const { below, ...check } of meta['x-checks'] ?? [])
      checks.push({ path: joined(path, below), ...check });
    const { inner } = unwrapped(type);
    if (!(inner instanceof z.ZodObject)) continue;
    relations.push(...(meta['x-relations'] ?? []).map(each => ({ path, ...each })));
    const below = rulesBelow(inner.shape as Record<string, z.ZodType>, path);
    checks.push(...below.checks);
    relations.push(...below.relations);
  }
  return { checks, relations };
}

export function valueRules(): string {
  const rules = rulesBelow(chartValues.shape as Record<string, z.ZodType>, '');
  return `${writtenJson({ formats, ...rules })}\n`;
}
