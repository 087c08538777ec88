// The tool `render_pdf` as clients see it: its words, and the schemas of what goes in and comes
// out. They are the contract's, with what the protocol adds.
import type { StandardSchemaWithJSON } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { renderRequestSchema } from '../../../common/contract/render-request.ts';

export const TOOL_NAME = 'render_pdf';
export const DELIVERIES = ['link', 'embedded'] as const;
export type Delivery = (typeof DELIVERIES)[number];

/** An embedded PDF is read by a model, or refused by its client: more than this helps nobody. */
export const EMBEDDED_MAX_BYTES = 2 ** 20;

export interface ToolLimits {
  bodyMaxBytes: number;
  renderMs: number;
  outputMaxBytes: number;
  linkMs: number;
}

const mebibytes = (bytes: number) => `${Math.round((bytes / 2 ** 20) * 10) / 10} MiB`;
const inWords = (ms: number) => (ms % 60_000 === 0 ? `${ms / 60_000} min` : `${ms / 1_000} s`);

export const toolDescription = ({
  bodyMaxBytes,
  renderMs,
  outputMaxBytes,
  linkMs,
}: ToolLimits): string =>
  [
    'Renders an HTML document or a public web page to a PDF with a real browser, and answers with a link to download it.',
    'Give exactly one of `html` (the text of a whole document, no path of a file; styles and images inline or by absolute public URL) and `url`.',
    'Most calls need no more. `format`, `landscape`, `margin`, `header` and `footer` change the paper, `metadata.title` also names the file.',
    `Show the link to the person: it works for ${inWords(linkMs)}, for whoever has it.`,
    'A successful render counts against the plan of the account, unless `sandbox` is true, which prints a watermark.',
    `Limits: a request of ${mebibytes(bodyMaxBytes)}, ${inWords(renderMs)} on the page, a PDF of ${mebibytes(outputMaxBytes)}.`,
    'An error names the field to mend, or says when to try again.',
  ].join(' ');

const resultSchema = z.object({
  url: z.url().describe('Where the PDF can be downloaded, without signing in.'),
  expires_at: z.iso.datetime().describe('When the link ends.'),
  bytes: z.int().positive().describe('The size of the PDF.'),
  pages: z.int().positive().describe('How many pages it has.'),
  sha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .describe('Of the PDF, hexadecimal.'),
  filename: z.string().describe('The name under which it is saved.'),
  render_id: z.uuid().describe('Names this render in the log of the dashboard.'),
});
export type RenderResult = z.output<typeof resultSchema>;

type JsonSchema = Record<string, unknown>;

function jsonSchema(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
  const {
    $schema: _,
    '~standard': _standard,
    ...rest
  } = z.toJSONSchema(schema, { io, target: 'draft-2020-12' }) as JsonSchema;
  return rest;
}

/**
 * Describes, and lets everything pass: what checks it has better words than the SDK's. Made once,
 * at the first call: it takes 20 ms.
 */
function describing(make: () => JsonSchema): StandardSchemaWithJSON {
  let made: JsonSchema | undefined;
  const json = () => {
    made ??= make();
    return made;
  };
  const validate = (value: unknown) => ({ value });
  return {
    '~standard': {
      version: 1,
      vendor: 'pressroom',
      validate,
      jsonSchema: { input: json, output: json },
    },
  };
}

const isObject = (value: unknown): value is JsonSchema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Without what every model would read with every message for nothing: patterns, which the words say
 * too and some clients read otherwise; examples of what needs none, and of the parts of what has an
 * example as a whole.
 */
function shortened(schema: JsonSchema, within = false): JsonSchema {
  const {
    pattern: _,
    propertyNames: _names,
    examples,
    properties,
    items,
    additionalProperties,
    ...rest
  } = schema;
  const telling =
    Array.isArray(examples) &&
    !within &&
    typeof examples[0] !== 'boolean' &&
    typeof examples[0] !== 'number';
  const inside = within || telling;
  return {
    ...rest,
    ...(telling && { examples }),
    ...(isObject(properties) && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, part]) => [
          name,
          shortened(part as JsonSchema, inside),
        ]),
      ),
    }),
    ...(isObject(items) && { items: shortened(items, inside) }),
    ...(additionalProperties !== undefined && {
      additionalProperties: isObject(additionalProperties)
        ? shortened(additionalProperties, inside)
        : additionalProperties,
    }),
  };
}

/** Other words than the contract's: what that says of headers is true of /v1/render alone, */
const SANDBOX =
  'Draws SANDBOX across every page and does not count the render. It takes one of the places of the plan all the same.';
/** and what it says of headers and footers is long and the same. */
const FOOTER_HTML = 'As `html` of `header`, drawn inside the bottom margin of every page.';

/** The schema with another description of one of its properties. */
function withWords(
  schema: JsonSchema,
  [name, ...inside]: readonly string[],
  description: string,
): JsonSchema {
  if (name === undefined) return { ...schema, description };
  const properties = schema['properties'] as Record<string, JsonSchema>;
  return {
    ...schema,
    properties: { ...properties, [name]: withWords(properties[name]!, inside, description) },
  };
}

function input(): JsonSchema {
  // Anthropic's API takes no `oneOf` at the top of a tool's schema; the description says it in
  // words, and the check holds to it.
  const {
    oneOf: _,
    dependentRequired: _pairs,
    examples: _examples,
    ...rest
  } = jsonSchema(renderRequestSchema, 'input');
  const schema = withWords(
    withWords(shortened(rest), ['sandbox'], SANDBOX),
    ['footer', 'html'],
    FOOTER_HTML,
  );
  const delivery = {
    type: 'string',
    enum: DELIVERIES,
    default: 'link',
    description: `\`embedded\` adds the PDF itself to the answer when it has at most ${mebibytes(EMBEDDED_MAX_BYTES)}; the link comes with it. Many clients cannot show it.`,
  };
  return { ...schema, properties: { ...(schema['properties'] as JsonSchema), delivery } };
}

export const inputSchema = describing(input);
export const outputSchema = describing(() => shortened(jsonSchema(resultSchema, 'output')));

/**
 * It makes a document and may count against a plan, so it is not read-only; it changes nothing that
 * was there. Pages load from the open web.
 */
export const ANNOTATIONS = {
  title: 'Render a PDF',
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: false,
  openWorldHint: true,
} as const;
