// The `config` value of a process: its environment variables under their own names, without those
// that the chart sets from other values.
import { z } from 'zod';
import { variableMeta } from '../../common/config.ts';

/** Types after YAML parsing: `on` and `off` may be booleans, digits may be numbers. */
const accepted = {
  boolean: () => z.union([z.boolean(), z.enum(['on', 'off'])]),
  integer: () => z.union([z.int(), z.string()]),
  text: () => z.string(),
};

const ofKind = (kind: string | undefined) =>
  kind === 'boolean' || kind === 'integer' ? accepted[kind]() : accepted.text();

/**
 * An optional value for each variable except those in `elsewhere`. Secret variables are left out:
 * they are read from Kubernetes Secrets.
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
