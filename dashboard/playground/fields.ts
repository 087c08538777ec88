// Converts the JSON Schema of a render request to form fields: control, section and texts.

export interface FieldSchema {
  type?: string;
  enum?: string[];
  description?: string;
  default?: unknown;
  examples?: unknown[];
  pattern?: string;
  minimum?: number;
  maximum?: number;
  maxLength?: number;
  required?: string[];
  properties?: Record<string, FieldSchema>;
  items?: FieldSchema;
  additionalProperties?: FieldSchema | boolean;
  anyOf?: FieldSchema[];
}

/** A schema of the OpenAPI document. Its objects are components, and generators know no `default`. */
export interface PublishedSchema
  extends Omit<FieldSchema, 'default' | 'properties' | 'items' | 'additionalProperties' | 'anyOf'> {
  $ref?: string;
  'x-default'?: unknown;
  properties?: Record<string, PublishedSchema>;
  items?: PublishedSchema;
  additionalProperties?: PublishedSchema | boolean;
  anyOf?: PublishedSchema[];
}

/** The schema with the components that it refers to in place. */
export function completeSchema(
  { $ref, ...own }: PublishedSchema,
  schemas: Readonly<Record<string, PublishedSchema>>,
): FieldSchema {
  const target = $ref?.split('/').at(-1);
  const schema = target === undefined ? own : schemas[target]!;
  const {
    properties,
    items,
    additionalProperties,
    anyOf,
    'x-default': defaultValue,
    ...rest
  } = schema;
  const complete = (part: PublishedSchema) => completeSchema(part, schemas);
  return {
    ...rest,
    ...(defaultValue !== undefined && { default: defaultValue }),
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, part]) => [name, complete(part)]),
      ),
    }),
    ...(items && { items: complete(items) }),
    ...(anyOf && { anyOf: anyOf.map(complete) }),
    ...(additionalProperties !== undefined && {
      additionalProperties:
        typeof additionalProperties === 'boolean'
          ? additionalProperties
          : complete(additionalProperties),
    }),
  };
}

export interface RequestField {
  /** `top`; the label is derived from it. */
  name: string;
  /** `margin.top`: the path in the API's error messages. */
  path: string;
  /** `rows`: a list of objects. `pairs`: names with text values. */
  control: 'text' | 'long' | 'number' | 'choice' | 'switch' | 'group' | 'rows' | 'pairs';
  description: string;
  placeholder: string;
  required: boolean;
  /** The default of the schema. */
  defaultValue: string | number | boolean | undefined;
  choices: string[];
  /** A first check of the value; the API validates more. */
  pattern: RegExp | undefined;
  range: { min: number | undefined; max: number | undefined };
  /** The members of a group or of each row. */
  fields: RequestField[];
  /** A group that may also be one text for all its members. */
  takesText: boolean;
}

/** A text field with at least this maximum length gets a textarea: CSS, JavaScript, header HTML. */
const LONG = 65_536;

function controlOf(schema: FieldSchema): RequestField['control'] {
  if (schema.enum) return 'choice';
  if (schema.type === 'boolean') return 'switch';
  if (schema.type === 'number' || schema.type === 'integer') return 'number';
  if (schema.type === 'array') return 'rows';
  if (schema.type === 'object') return schema.properties ? 'group' : 'pairs';
  return (schema.maxLength ?? 0) >= LONG ? 'long' : 'text';
}

function placeholderOf(schema: FieldSchema): string {
  if (schema.default !== undefined && schema.default !== '') return String(schema.default);
  const example = schema.examples?.find(each => each !== '' && typeof each !== 'object');
  return example === undefined ? '' : `e.g. ${String(example)}`;
}

/** Undefined for a pattern that the browser cannot compile; the API still validates the value. */
function patternOf(schema: FieldSchema): RegExp | undefined {
  if (schema.pattern === undefined) return undefined;
  try {
    return new RegExp(schema.pattern, 'u');
  } catch {
    return undefined;
  }
}

function fieldOf(name: string, path: string, given: FieldSchema, required: boolean): RequestField {
  // Of alternatives, the form shows the object, or else the first.
  const shown = given.anyOf?.find(({ properties }) => properties) ?? given.anyOf?.[0];
  const schema = { ...shown, ...given };
  const inner = schema.items ?? schema;
  const { default: defaultValue } = schema;
  return {
    name,
    path,
    control: controlOf(schema),
    description: schema.description ?? '',
    placeholder: placeholderOf(schema),
    required,
    defaultValue:
      typeof defaultValue === 'object' ? undefined : (defaultValue as RequestField['defaultValue']),
    choices: schema.enum ?? [],
    pattern: patternOf(schema),
    range: { min: schema.minimum, max: schema.maximum },
    fields: Object.entries(inner.properties ?? {}).map(([each, of]) =>
      fieldOf(each, `${path}.${each}`, of, inner.required?.includes(each) ?? false),
    ),
    takesText: given.anyOf?.some(({ type }) => type === 'string') ?? false,
  };
}

export interface FieldSection {
  title: string;
  fields: RequestField[];
}

/** The sections of the form. A field without a match, as of a later release, is in the last one. */
const SECTIONS: [title: string, names: RegExp][] = [
  [
    'Page',
    /^(format|paper_.*|prefer_css_page_size|landscape|print_background|scale|zoom|pages|single_page|emulate_media)$/,
  ],
  ['Margins', /^margin$/],
  ['Header & footer', /^(header|footer)$/],
  ['Wait conditions', /^(wait_.*|lazy_load_images|finish_animations|timeout)$/],
  ['HTTP', /^(raise_for_status|fail_on_resource_error|cookies|extra_http_headers|auth)$/],
  ['CSS & JavaScript', /^(css|javascript)$/],
  ['Metadata', /^(metadata|filename|reference)$/],
  ['Other', /./],
];

/** The fields that have their own inputs in the playground. */
const SEPARATE = new Set(['html', 'url', 'sandbox']);

/** All options of a request by section, without empty sections. */
export function sectionsOf(request: FieldSchema): FieldSection[] {
  const fields = Object.entries(request.properties ?? {})
    .filter(([name]) => !SEPARATE.has(name))
    .map(([name, schema]) => fieldOf(name, name, schema, false));
  const bySection = Map.groupBy(
    fields,
    ({ name }) => SECTIONS.find(([, names]) => names.test(name))![0],
  );
  return SECTIONS.flatMap(([title]) =>
    bySection.has(title) ? [{ title, fields: bySection.get(title)! }] : [],
  );
}

const TERMS: Record<string, string> = {
  css: 'CSS',
  html: 'HTML',
  http: 'HTTP',
  javascript: 'JavaScript',
  url: 'URL',
};

/** `wait_for_selector` -> `Wait for selector`. */
export function labelOf(name: string): string {
  const words = name.split('_').map(word => TERMS[word] ?? word);
  return words.join(' ').replace(/^./, letter => letter.toUpperCase());
}

/** The fields that match all words of the search, by section. An empty search matches all. */
export function found(sections: readonly FieldSection[], search: string): FieldSection[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const text = (field: RequestField): string =>
    [field.name, labelOf(field.name), field.description, ...field.fields.map(text)]
      .join(' ')
      .toLowerCase();
  return sections
    .map(({ title, fields }) => ({
      title,
      fields: fields.filter(field =>
        words.every(word => title.toLowerCase().includes(word) || text(field).includes(word)),
      ),
    }))
    .filter(({ fields }) => fields.length > 0);
}
