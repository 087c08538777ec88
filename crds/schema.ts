// Kubernetes extensions of JSON Schema for zod: CEL validation rules, list types, embedded objects.
import { z } from 'zod';

interface Rule<T> {
  /** CEL expression, evaluated by the API server. `self` is the object with its defaults. */
  rule: string;
  message: string;
  /** The same rule for zod. A test verifies that both reject the same objects. */
  good(value: T): boolean;
}

/** Adds validation rules to `schema`. */
export function withRules<T extends z.ZodType>(schema: T, ...rules: Rule<z.output<T>>[]): T {
  return schema
    .check(...rules.map(({ good, message }) => z.refine<z.output<T>>(good, { error: message })))
    .meta({
      'x-kubernetes-validations': rules.map(({ rule, message }) => ({ rule, message })),
    }) as T;
}

/** A part of the Kubernetes API. The API server validates it when the Deployment is written. */
export const embedded = () =>
  z.looseObject({}).meta({ 'x-kubernetes-preserve-unknown-fields': true });

/** The same for list items with a name. */
export const named = () =>
  z
    .looseObject({ name: z.string().min(1).max(253).describe('Name of the item.') })
    .meta({ 'x-kubernetes-preserve-unknown-fields': true });

/** An atomic list: one field manager owns the whole list. */
export const arrayOf = <T extends z.ZodType>(item: T, max: number) =>
  z.array(item).max(max).meta({ 'x-kubernetes-list-type': 'atomic' });

/** A map list: field managers own single items, which `keys` identify. */
export const listOf = <T extends z.ZodType>(item: T, keys: string[], max: number) =>
  z
    .array(item)
    .max(max)
    .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': keys });

/** A map of strings, such as labels. */
export const textMap = () => z.record(z.string(), z.string());
