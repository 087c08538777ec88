// The fields of a request schema by their full names.
import { type JsonSchema, membersOf } from '../common/contract/json-schema.ts';

/** Fields inside objects as `margin.top`, those inside the elements of a list as `cookies.name`. */
export const fieldsOf = (schema: JsonSchema, prefix = ''): [string, JsonSchema][] =>
  membersOf(schema).flatMap(([name, inner]): [string, JsonSchema][] => [
    [`${prefix}${name}`, inner],
    ...fieldsOf(inner, `${prefix}${name}.`),
  ]);
