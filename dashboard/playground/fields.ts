// From the description of a render request (JSON Schema) to the fields of a form: which control a
// field gets, where it stands, what it says. Pure.

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
}

export interface RequestField {
  /** `top`; the label is made of it. */
  name: string;
  /** `margin.top`: how the service names it in an error. */
  path: string;
  /** `rows`: a list of objects. `pairs`: names with texts. */
  control: 'text' | 'long' | 'number' | 'choice' | 'switch' | 'group' | 'rows' | 'pairs';
  description: string;
  placeholder: string;
  required: boolean;
  /** What an absent field means, as far as the description says it. */
  standard: string | number | boolean | undefined;
  choices: string[];
  /** What a text must look like; the service checks more. */
  pattern: RegExp | undefined;
  range: { min: number | undefined; max: number | undefined };
  /** Of a group, or of each row. */
  fields: RequestField[];
}

/** From this length on a text is a document of its own: a style sheet, a script, a header. */
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

/** A pattern that this browser cannot read checks nothing: the service does. */
function patternOf(schema: FieldSchema): RegExp | undefined {
  if (schema.pattern === undefined) return undefined;
  try {
    return new RegExp(schema.pattern, 'u');
  } catch {
    return undefined;
  }
}

function fieldOf(name: string, path: string, schema: FieldSchema, required: boolean): RequestField {
  const inner = schema.items ?? schema;
  const { default: standard } = schema;
  return {
    name,
    path,
    control: controlOf(schema),
    description: schema.description ?? '',
    placeholder: placeholderOf(schema),
    required,
    standard: typeof standard === 'object' ? undefined : (standard as RequestField['standard']),
    choices: schema.enum ?? [],
    pattern: patternOf(schema),
    range: { min: schema.minimum, max: schema.maximum },
    fields: Object.entries(inner.properties ?? {}).map(([each, of]) =>
      fieldOf(each, `${path}.${each}`, of, inner.required?.includes(each) ?? false),
    ),
  };
}

export interface FieldSection {
  title: string;
  fields: RequestField[];
}

/**
 * Which fields stand together. A field that is not named here, such as one of a later release,
 * stands in the last section.
 */
const SECTIONS: [title: string, names: RegExp][] = [
  [
    'Page',
    /^(format|paper_.*|landscape|print_background|scale|zoom|pages|single_page|emulate_media)$/,
  ],
  ['Margins', /^margin$/],
  ['Header & footer', /^(header|footer)$/],
  ['Waits', /^(wait_.*|lazy_load_images)$/],
  ['Requests', /^(raise_for_status|cookies|extra_http_headers|auth)$/],
  ['Additions', /^(css|javascript)$/],
  ['Metadata', /^metadata$/],
  ['Others', /./],
];

/** What has a place of its own in the playground. */
const ELSEWHERE = new Set(['html', 'url', 'sandbox']);

/** All options of a request in their sections; sections without a field are left out. */
export function sectionsOf(request: FieldSchema): FieldSection[] {
  const fields = Object.entries(request.properties ?? {})
    .filter(([name]) => !ELSEWHERE.has(name))
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

/**
 * The fields that have to do with the words that are searched for, inside their sections. An empty
 * search finds all.
 */
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
