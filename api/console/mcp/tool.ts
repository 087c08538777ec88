// The definition of the tool `render_pdf`: its description, and its input and output schemas, which
// derive from the contract.
import type { StandardSchemaWithJSON } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { isJsonObject } from '../../../common/contract/problems.ts';
import { renderRequestSchema } from '../../../common/contract/render-request.ts';

export const TOOL_NAME = 'render_pdf';
export const DELIVERIES = ['link', 'embedded'] as const;
export type Delivery = (typeof DELIVERIES)[number];

/** A model reads the embedded PDF, and many clients reject larger results. */
export const EMBEDDED_MAX_BYTES = 2 ** 20;

export interface ToolLimits {
  bodyMaxBytes: number;
  renderMs: number;
  outputMaxBytes: number;
  linkMs: number;
}

const mebibytes = (bytes: number) => `${Math.round((bytes / 2 ** 20) * 10) / 10} MiB`;
const duration = (ms: number) => (ms % 60_000 === 0 ? `${ms / 60_000} min` : `${ms / 1_000} s`);

export const toolDescription = ({
  bodyMaxBytes,
  renderMs,
  outputMaxBytes,
  linkMs,
}: ToolLimits): string =>
  [
    'Renders an HTML document or a public web page to a PDF with a real browser, and returns a download link.',
    'Set exactly one of `html` (a complete document as text, not a file path; inline styles and images, or use absolute public URLs) and `url`.',
    'Most calls need nothing else. `format`, `landscape`, `margin`, `header` and `footer` set the page layout; `filename` sets the name of the PDF.',
    `Show the link to the user: it works for ${duration(linkMs)}, for anyone who has it.`,
    'A successful render counts toward the usage of the account, unless `sandbox` is true, which adds a watermark.',
    `Limits: ${mebibytes(bodyMaxBytes)} per request, ${duration(renderMs)} per render, ${mebibytes(outputMaxBytes)} per PDF.`,
    'An error names the field to fix or when to try again.',
  ].join(' ');

const resultSchema = z.object({
  url: z.url().describe('Download URL of the PDF. Works without signing in.'),
  expires_at: z.iso.datetime().describe('When the link expires.'),
  bytes: z.int().positive().describe('Size of the PDF in bytes.'),
  pages: z.int().positive().describe('Number of pages.'),
  sha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .describe('SHA-256 of the PDF, hexadecimal.'),
  filename: z.string().describe('File name of the PDF.'),
  render_id: z.uuid().describe('ID of the render in the dashboard.'),
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
 * A schema that accepts everything, since our own validation has better messages than the SDK's.
 * Created with the first call: it takes 20 ms.
 */
function schemaWithoutValidation(make: () => JsonSchema): StandardSchemaWithJSON {
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

/**
 * Shortens the schema, since models read it with every message: no patterns and lengths, which the
 * descriptions and the error messages cover and some clients misread; no examples of booleans and
 * numbers, nor within an object that has an example.
 */
function shortened(schema: JsonSchema, within = false): JsonSchema {
  const {
    pattern: _,
    minLength: _min,
    maxLength: _max,
    propertyNames: _names,
    examples,
    properties,
    items,
    anyOf,
    additionalProperties,
    ...rest
  } = schema;
  const hasExample =
    Array.isArray(examples) &&
    !within &&
    typeof examples[0] !== 'boolean' &&
    typeof examples[0] !== 'number';
  const inside = within || hasExample;
  return {
    ...rest,
    ...(hasExample && { examples }),
    ...(isJsonObject(properties) && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, part]) => [
          name,
          shortened(part as JsonSchema, inside),
        ]),
      ),
    }),
    ...(Array.isArray(anyOf) && { anyOf: anyOf.map(part => shortened(part, inside)) }),
    ...(isJsonObject(items) && { items: shortened(items, inside) }),
    ...(additionalProperties !== undefined && {
      additionalProperties: isJsonObject(additionalProperties)
        ? shortened(additionalProperties, inside)
        : additionalProperties,
    }),
  };
}

/** Replaces the contract's description, which mentions response headers of /v1/render. */
const SANDBOX =
  'Adds a SANDBOX watermark to every page. The render is not counted, but uses the concurrency limit.';
/** Replaces the contract's description, which repeats that of the header. */
const FOOTER_HTML = 'Like `html` of `header`, in the bottom margin of every page.';

/** The schema with another description of one of its properties. */
function withDescription(
  schema: JsonSchema,
  [name, ...inside]: readonly string[],
  description: string,
): JsonSchema {
  if (name === undefined) return { ...schema, description };
  const properties = schema['properties'] as Record<string, JsonSchema>;
  return {
    ...schema,
    properties: { ...properties, [name]: withDescription(properties[name]!, inside, description) },
  };
}

function input(): JsonSchema {
  // Some APIs of models reject conditions at the top of a tool's schema. The description states the rule,
  // and our validation enforces it.
  const {
    if: _if,
    then: _then,
    else: _else,
    dependentRequired: _pairs,
    examples: _examples,
    ...rest
  } = jsonSchema(renderRequestSchema, 'input');
  const schema = withDescription(
    withDescription(shortened(rest), ['sandbox'], SANDBOX),
    ['footer', 'html'],
    FOOTER_HTML,
  );
  const delivery = {
    type: 'string',
    enum: DELIVERIES,
    default: 'link',
    description: `\`embedded\` adds the PDF itself to the result, next to the link, if it is at most ${mebibytes(EMBEDDED_MAX_BYTES)}. Many clients cannot show it.`,
  };
  return { ...schema, properties: { ...(schema['properties'] as JsonSchema), delivery } };
}

export const inputSchema = schemaWithoutValidation(input);
export const outputSchema = schemaWithoutValidation(() =>
  shortened(jsonSchema(resultSchema, 'output')),
);

/**
 * Not read-only: it creates a document and may count toward usage. Not destructive: it changes
 * nothing that exists. Open world: pages load from the web.
 */
export const ANNOTATIONS = {
  title: 'Render a PDF',
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: false,
  openWorldHint: true,
} as const;
