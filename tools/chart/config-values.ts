// The `config` of a process in the chart's values: its environment variables under their own names,
// without those that the chart sets by other values.
import { z } from 'zod';
import { variableMeta } from '../../common/config.ts';

/** As YAML reads them: `on` and `off` are booleans there, and numbers are numbers. */
const accepted = {
  boolean: () => z.union([z.boolean(), z.enum(['on', 'off'])]),
  integer: () => z.union([z.int(), z.string()]),
  text: () => z.string(),
};

const ofKind = (kind: string | undefined) =>
  kind === 'boolean' || kind === 'integer' ? accepted[kind]() : accepted.text();

/**
 * One optional value for each variable of `variables` but those in `elsewhere`. Secrets are never
 * values: they come from Secrets.
 */
export function configValues(variables: z.ZodObject, elsewhere: readonly string[]): z.ZodType {
  const shape = Object.entries(variables.shape)
    .filter(
      ([name, type]) =>
        !elsewhere.includes(name) && variableMeta(type as z.ZodType)?.kind !== 'secret',
    )
    .map(([name, type]) => {
      const { kind, description, accepts } = variableMeta(type as z.ZodType) ?? {};
      return [
        name,
        ofKind(kind)
          .optional()
          .describe(`${description ?? ''} Accepted: ${accepts ?? 'text'}.`),
      ];
    });
  return z.strictObject(Object.fromEntries(shape)).default({});
}
