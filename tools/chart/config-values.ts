// The `config` value of a process: its environment variables under their own names, without those
// that the chart sets from other values.
import { z } from 'zod';
import { processVariables, type VariableMeta, variableMeta } from '../../common/config.ts';
import { type ValueCheck, withChecks } from './formats.ts';

/** Types after YAML parsing: `on` and `off` may be booleans, digits may be numbers. */
function ofKind({ kind, choices }: VariableMeta): z.ZodType {
  if (kind === 'boolean') return z.literal([true, false, 'on', 'off']);
  if (kind === 'choice') return z.enum(choices as [string, ...string[]]);
  return kind === 'integer' ? z.union([z.int(), z.string()]) : z.string();
}

/** The check of a variable, with the bounds and the words of the process. */
function checksOf({ kind, min, max, message }: VariableMeta): ValueCheck[] {
  if (kind === 'url') return [{ format: 'httpUrl' }];
  if (kind !== 'integer' && kind !== 'duration' && kind !== 'bytes') return [];
  const wanted = message?.replace(/^must be /, '');
  return [
    {
      format: kind,
      ...(min !== undefined && { min }),
      ...(max !== undefined && { max }),
      ...(wanted !== undefined && { wanted }),
    },
  ];
}

/**
 * An optional value for each variable of a process except those in `elsewhere`. Secret variables
 * are left out: they are read from Kubernetes Secrets.
 */
export function configValues(variables: z.ZodObject, elsewhere: readonly string[]): z.ZodType {
  const shape = Object.entries({ ...processVariables.shape, ...variables.shape })
    .filter(
      ([name, type]) =>
        !elsewhere.includes(name) && variableMeta(type as z.ZodType)?.kind !== 'secret',
    )
    .map(([name, type]) => {
      const meta = variableMeta(type as z.ZodType)!;
      const help = `${meta.description ?? ''} Accepted: ${meta.accepts}.`;
      return [name, withChecks(ofKind(meta).optional(), ...checksOf(meta)).describe(help)];
    });
  return z.strictObject(Object.fromEntries(shape)).default({});
}
