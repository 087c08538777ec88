// What Kubernetes wants to be told in a schema beyond JSON Schema: rules in CEL, lists that are
// maps, objects whose inside is another's business.
import { z } from 'zod';

interface Rule<T> {
  /** In CEL, which the API server holds. `self` is the object with its defaults. */
  rule: string;
  message: string;
  /**
   * The same, which zod holds: a refinement is not in the JSON schema that zod makes. A test shows
   * that both refuse the same objects.
   */
  good(value: T): boolean;
}

/** `schema` with rules across its fields. */
export function withRules<T extends z.ZodType>(schema: T, ...rules: Rule<z.output<T>>[]): T {
  return schema
    .check(...rules.map(({ good, message }) => z.refine<z.output<T>>(good, { error: message })))
    .meta({
      'x-kubernetes-validations': rules.map(({ rule, message }) => ({ rule, message })),
    }) as T;
}

/**
 * A part of Kubernetes' own API: the API server checks it when the Deployment is written, and says
 * what is wrong.
 */
export const embedded = () =>
  z.looseObject({}).meta({ 'x-kubernetes-preserve-unknown-fields': true });

/** The same for what a list names. */
export const named = () =>
  z
    .looseObject({ name: z.string().min(1).max(253).describe('Its name.') })
    .meta({ 'x-kubernetes-preserve-unknown-fields': true });

/** A list that belongs as a whole to whoever writes it. */
export const arrayOf = <T extends z.ZodType>(item: T, max: number) =>
  z.array(item).max(max).meta({ 'x-kubernetes-list-type': 'atomic' });

/** A list whose entries belong to whoever writes them, told apart by `keys`. */
export const listOf = <T extends z.ZodType>(item: T, keys: string[], max: number) =>
  z
    .array(item)
    .max(max)
    .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': keys });

/** Labels and the like. */
export const textMap = () => z.record(z.string(), z.string());
