// JSON schemas for the OpenAPI documents, in the form that client generators understand: no
// `default`, every object a component of its own, patterns that all languages can compile.
import { z } from 'zod';
import { isJsonObject } from './problems.ts';

export type JsonSchema = z.core.JSONSchema.BaseSchema;

/** The components of an OpenAPI document by name. */
export type Schemas = Record<string, JsonSchema>;

/** Names of schemas that become components wherever they occur. */
export type SchemaNames = ReadonlyMap<z.core.$ZodType, string>;

type Io = 'input' | 'output';

type Override = NonNullable<Parameters<typeof z.toJSONSchema>[1]>['override'];

/** Complete, without references. `input`: what a caller sends. */
export function jsonSchema(schema: z.ZodType, io: Io, override?: Override): JsonSchema {
  const {
    $schema: _,
    '~standard': _standard,
    ...rest
  } = z.toJSONSchema(schema, {
    io,
    target: 'draft-2020-12',
    ...(override && { override }),
  }) as JsonSchema;
  return rest;
}

export const capital = (name: string) => name[0]!.toUpperCase() + name.slice(1);

/** `emulate_media` -> `EmulateMedia`. */
const componentName = (property: string) => property.split('_').map(capital).join('');

export const schemaRef = (name: string) => ({ $ref: `#/components/schemas/${name}` });

/**
 * Generators make a field with `default` required (openapi-typescript) or send it with each request
 * (openapi-python-client). `x-default` keeps the value for programs.
 */
function withoutDefault({ default: value, ...schema }: JsonSchema): JsonSchema {
  if (value === undefined) return schema;
  const sentence = `Default: \`${typeof value === 'string' ? value : JSON.stringify(value)}\`.`;
  return {
    ...schema,
    description: [schema.description, sentence].filter(Boolean).join(' '),
    'x-default': value,
  };
}

/** Python and RE2 do not know Unicode classes; the description has the rule. */
function withPortablePattern({ pattern, ...schema }: JsonSchema): JsonSchema {
  return pattern === undefined || /\\p\{/i.test(pattern) ? schema : { ...schema, pattern };
}

/** oapi-codegen accepts a list of types only for one type and null. */
function withSingleType({ type, ...schema }: JsonSchema): JsonSchema {
  if (!Array.isArray(type) || type.filter(each => each !== 'null').length < 2)
    return type === undefined ? schema : { ...schema, type };
  return { ...schema, anyOf: type.map(each => ({ type: each })) };
}

/**
 * The schema with each object below it as a component named after its path
 * (`RenderRequestMargin`), and each schema with a `title` as the component of this name.
 */
function split(given: JsonSchema, at: string, schemas: Schemas): JsonSchema {
  const schema = withSingleType(withPortablePattern(withoutDefault(given)));
  const { properties, items, additionalProperties, anyOf } = schema;
  const under = (part: unknown, name: string) =>
    isJsonObject(part) ? component(part, `${at}${name}`, schemas) : part;
  const split = {
    ...schema,
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, part]) => [name, under(part, componentName(name))]),
      ),
    }),
    ...(items !== undefined && { items: under(items, 'Item') }),
    ...(additionalProperties !== undefined && {
      additionalProperties: under(additionalProperties, 'Value'),
    }),
    ...(anyOf && { anyOf: anyOf.map(part => under(part, '')) }),
  };
  return split as JsonSchema;
}

function component(schema: JsonSchema, defaultName: string, schemas: Schemas): JsonSchema {
  const { title, ...rest } = schema;
  if (title === undefined && !schema.properties) return split(schema, defaultName, schemas);
  const name = title ?? defaultName;
  const made = split(rest, name, schemas);
  const known = schemas[name];
  if (known && JSON.stringify(known) !== JSON.stringify(made))
    throw new Error(`The component ${name} of the OpenAPI document has two different schemas.`);
  schemas[name] = made;
  return schemaRef(name);
}

/** Where the objects of a schema go. `defaultName`: the name of an object that has none in `names`. */
interface Target {
  schemas: Schemas;
  defaultName: string;
  names?: SchemaNames;
}

/** Responses (`output`) may have other members in later releases. */
const titled = (schema: z.ZodType, io: Io, names: SchemaNames = new Map()): JsonSchema =>
  jsonSchema(schema, io, ({ zodSchema, jsonSchema: made }) => {
    const name = names.get(zodSchema);
    if (name !== undefined) made.title = name;
    if (io === 'output' && made.additionalProperties === false) delete made.additionalProperties;
  });

/** Adds the schema and the objects in it to the components, and returns the reference. */
export const addComponent = (schema: z.ZodType, io: Io, { schemas, defaultName, names }: Target) =>
  component(titled(schema, io, names), defaultName, schemas);

/** The members of an object that is not a component itself, such as the parameters of a query. */
export const propertiesOf = (schema: z.ZodType, io: Io, { schemas, defaultName, names }: Target) =>
  (split(titled(schema, io, names), defaultName, schemas).properties ?? {}) as Record<
    string,
    JsonSchema
  >;

/** The members of an object, also of one that is an alternative, or of each item of a list. */
export const membersOf = (schema: JsonSchema): [name: string, JsonSchema][] => {
  const { properties } =
    (schema.items as JsonSchema | undefined) ??
    schema.anyOf?.find(({ properties }) => properties) ??
    schema;
  return Object.entries((properties ?? {}) as Record<string, JsonSchema>);
};

/** Fields inside objects as `margin.top`, those inside the elements of a list as `cookies.name`. */
export const fieldsOf = (schema: JsonSchema, prefix = ''): [name: string, JsonSchema][] =>
  membersOf(schema).flatMap(([name, inner]): [string, JsonSchema][] => [
    [`${prefix}${name}`, inner],
    ...fieldsOf(inner, `${prefix}${name}.`),
  ]);
