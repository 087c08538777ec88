// The parts that the operations of the OpenAPI document share.
import type { z } from 'zod';
import {
  type ErrorCase,
  type ErrorEnvelope,
  EXAMPLE_REQUEST_ID,
  type HeaderName,
} from './answers.ts';
import { STATUS } from './errors.ts';
import { type JsonSchema, propertiesOf, type SchemaNames, schemaRef } from './json-schema.ts';

/** Generated clients group the operations by tag. */
export const TAGS = {
  Rendering: 'Renders HTML or a URL to PDF.',
  Account: 'The account of an API key and its usage.',
  Service: 'The state of this installation.',
} as const;

export interface Answer {
  description: string;
  headers: Record<string, { $ref: string }>;
  content: Record<
    string,
    {
      schema: object;
      example?: unknown;
      examples?: Record<string, { summary: string; value: unknown }>;
    }
  >;
}

export interface Parameter {
  name: string;
  in: 'query' | 'path';
  required: boolean;
  description: string;
  schema: JsonSchema;
}

export interface Operation {
  operationId: string;
  tags: (keyof typeof TAGS)[];
  summary: string;
  description: string;
  security: Record<string, string[]>[];
  parameters?: Parameter[];
  requestBody?: {
    required: true;
    description: string;
    content: Record<string, { schema: object; examples: Record<string, unknown> }>;
  };
  responses: Record<string, Answer>;
}

const headerRef = (name: HeaderName) => ({ $ref: `#/components/headers/${name}` });

export const headerRefs = (names: readonly HeaderName[]) =>
  Object.fromEntries(names.map(name => [name, headerRef(name)]));

const envelope = ({ code, message, reason }: ErrorCase): ErrorEnvelope => ({
  error: { code, message, request_id: EXAMPLE_REQUEST_ID, ...(reason && { reason }) },
});

/**
 * One response per status, with an example of each of its codes. `headers`: that each of them can
 * have.
 */
export function errorAnswers(
  errorCases: ErrorCase[],
  headers: readonly HeaderName[] = [],
): Record<string, Answer> {
  const byStatus = Map.groupBy(errorCases, ({ code }) => STATUS[code]);
  const answer = (rows: ErrorCase[]): Answer => ({
    description: rows.map(({ code, when }) => `\`${code}\`: ${when}`).join(' '),
    headers: headerRefs([
      'X-Request-Id',
      ...new Set([...rows.flatMap(row => row.headers ?? []), ...headers]),
    ]),
    content: {
      'application/json': {
        schema: schemaRef('ErrorEnvelope'),
        examples: Object.fromEntries(
          rows.map(row => [row.code, { summary: row.when, value: envelope(row) }]),
        ),
      },
    },
  });
  return Object.fromEntries([...byStatus].map(([status, rows]) => [String(status), answer(rows)]));
}

export const jsonResponse = (
  description: string,
  schema: string,
  example: unknown,
  headers: readonly HeaderName[] = [],
): Answer => ({
  description,
  headers: headerRefs(['X-Request-Id', ...headers]),
  content: { 'application/json': { schema: schemaRef(schema), example } },
});

/** Generators know `format`; OpenAPI 3.1 itself defines `contentMediaType`. */
const PDF_SCHEMA = {
  type: 'string',
  format: 'binary',
  contentMediaType: 'application/pdf',
};

export const pdfAnswer = (headers: readonly HeaderName[]): Answer => ({
  description: 'The PDF.',
  headers: headerRefs(headers),
  content: {
    'application/pdf': { schema: PDF_SCHEMA },
  },
});

/**
 * The parameters of a query. Their `description` stands beside the schema. `names`: schemas that
 * are components of the document.
 */
export const queryParameters = (
  query: z.ZodObject,
  defaultName: string,
  names: SchemaNames = new Map(),
): Parameter[] =>
  Object.entries(propertiesOf(query, 'input', { schemas: {}, defaultName, names })).map(
    ([name, { description = '', ...schema }]) => ({
      name,
      in: 'query',
      required: false,
      description,
      schema,
    }),
  );
