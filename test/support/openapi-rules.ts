// What client generators need of an OpenAPI document, besides its validity.
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';

type Json = Record<string, unknown>;

export interface AnyOpenApi {
  tags: { name: string }[];
  paths: Record<string, Record<string, unknown>>;
  components: { schemas: Record<string, unknown>; headers: Record<string, unknown> };
}

interface AnyOperation {
  operationId: string;
  tags: string[];
  responses: Record<string, { headers?: Json; content?: Record<string, { schema: Json }> }>;
}

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null;

/** As part of a JSON pointer. */
const escaped = (name: string) => name.replaceAll('~', '~0').replaceAll('/', '~1');

/** Each object and array of the document with its path. */
function* nodes(value: unknown, path = ''): Generator<[path: string, node: Json]> {
  if (!isObject(value)) return;
  yield [path, value];
  for (const [name, inner] of Object.entries(value)) {
    // Examples hold values, which may look like schemas.
    if (name !== 'examples' && name !== 'example') yield* nodes(inner, `${path}/${escaped(name)}`);
  }
}

/** Examples that their own schema rejects: of schemas, headers, bodies and responses. */
function wrongExamples(document: AnyOpenApi): string[] {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  formats.default(ajv);
  ajv.addSchema(document as never, 'document');
  const pointer = (path: string) =>
    `document#${path.replace(/[^/]+/g, part => encodeURIComponent(part))}`;
  const wrong = (path: string, schema: string, value: unknown) =>
    ajv.validate(pointer(schema), value) ? [] : [`${path}: ${ajv.errorsText()}`];
  return [...nodes(document)].flatMap(([path, node]) => {
    const { example, examples, schema } = node;
    if (isObject(schema)) {
      const values = Object.values((examples ?? {}) as Record<string, { value: unknown }>);
      const all = [
        ...(example === undefined ? [] : [example]),
        ...values.map(({ value }) => value),
      ];
      return all.flatMap(value => wrong(path, `${path}/schema`, value));
    }
    return Array.isArray(examples) ? examples.flatMap(value => wrong(path, path, value)) : [];
  });
}

/** Objects and lists of values that are not components: generators invent names for them. */
function anonymous(document: AnyOpenApi): string[] {
  const seen = new Map<string, string>();
  return [...nodes(document)].flatMap(([path, node]) => {
    const isComponent = /^\/components\/schemas\/[^/]+$/.test(path);
    if (node['type'] === 'object' && node['properties'] && !isComponent)
      return [`${path}: an object without a name`];
    if (!Array.isArray(node['enum'])) return [];
    const values = node['enum'].join();
    const other = seen.get(values);
    seen.set(values, path);
    return other === undefined ? [] : [`${path}: the same values as ${other}`];
  });
}

function operationProblems(document: AnyOpenApi): string[] {
  const ids = new Set<string>();
  const known = new Set(document.tags.map(({ name }) => name));
  const operations = Object.values(document.paths).flatMap(Object.values) as AnyOperation[];
  return operations.flatMap(({ operationId, tags, responses }) => {
    const twice = ids.has(operationId);
    ids.add(operationId);
    return [
      ...(/^[a-z][A-Za-z]+$/.test(operationId) ? [] : [`${operationId}: not a name in code`]),
      ...(twice ? [`${operationId}: not unique`] : []),
      ...(tags.length === 1 && known.has(tags[0]!) ? [] : [`${operationId}: no known tag`]),
      ...Object.entries(responses).flatMap(([status, { headers = {}, content = {} }]) => [
        ...('X-Request-Id' in headers ? [] : [`${operationId} ${status}: no X-Request-Id`]),
        ...(status < '400' || status === '503' || isEnvelope(content)
          ? []
          : [`${operationId} ${status}: not the error envelope`]),
      ]),
    ];
  });
}

const isEnvelope = (content: Record<string, { schema: Json }>) =>
  content['application/json']?.schema['$ref'] === '#/components/schemas/ErrorEnvelope';

/** Keywords that generators misread. `default` makes a field required for openapi-typescript. */
const misread = (document: AnyOpenApi): string[] =>
  [...nodes(document)].flatMap(([path, node]) => [
    ...('default' in node && !path.endsWith('/properties') ? [`${path}: default`] : []),
    ...('oneOf' in node ? [`${path}: oneOf`] : []),
    ...(/\\p\{/i.test(String(node['pattern'])) ? [`${path}: a Unicode class`] : []),
  ]);

/** Everything that would make a generated client worse, one sentence each. */
export const generatorProblems = (document: AnyOpenApi): string[] => [
  ...wrongExamples(document),
  ...anonymous(document),
  ...operationProblems(document),
  ...misread(document),
];
