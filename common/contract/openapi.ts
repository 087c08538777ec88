// The API's description (OpenAPI 3.1), generated from the schemas that check requests. Owns the
// operations; the words are fields.ts's and answers.ts's.
import { z } from 'zod';
import {
  type ErrorEnvelope,
  EXAMPLE_REQUEST_ID,
  errorEnvelopeSchema,
  HEADERS,
  type HeaderName,
  healthSchema,
  PDF_HEADERS,
  type Refusal,
  readinessSchema,
  renderRefusals,
  TRIAL_PDF_HEADERS,
  trialRefusals,
} from './answers.ts';
import { STATUS } from './errors.ts';
import { EXAMPLE_REQUESTS, renderRequestSchema } from './render-request.ts';

export const API_VERSION = '0.1.0';

/** Method and path of what callers may call, for the router and the description. */
export const OPERATIONS = {
  render: { method: 'post', path: '/v1/render' },
  trialRender: { method: 'post', path: '/v1/trial/render' },
  health: { method: 'get', path: '/healthz' },
  readiness: { method: 'get', path: '/readyz' },
} as const;

export type JsonSchema = z.core.JSONSchema.BaseSchema;

interface Answer {
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

export interface Operation {
  operationId: string;
  summary: string;
  description: string;
  security: Record<string, string[]>[];
  requestBody?: {
    required: true;
    description: string;
    content: Record<string, { schema: object; examples: Record<string, unknown> }>;
  };
  responses: Record<string, Answer>;
}

export interface OpenApi {
  openapi: '3.1.0';
  info: { title: string; version: string; description: string };
  servers: { url: string }[];
  externalDocs: { description: string; url: string };
  paths: Record<string, Record<string, Operation>>;
  components: {
    schemas: Record<'RenderRequest' | 'ErrorEnvelope' | 'Health' | 'Readiness', JsonSchema>;
    headers: Record<string, { description: string; schema: object; example: unknown }>;
    securitySchemes: Record<string, object>;
  };
}

function jsonSchema(schema: z.ZodType): JsonSchema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: 'input', target: 'draft-2020-12' });
  return rest;
}

const ref = (kind: 'schemas' | 'headers', name: string) => ({
  $ref: `#/components/${kind}/${name}`,
});

const headerRefs = (names: readonly HeaderName[]) =>
  Object.fromEntries(names.map(name => [name, ref('headers', name)]));

const envelope = ({ code, message, reason }: Refusal): ErrorEnvelope => ({
  error: { code, message, request_id: EXAMPLE_REQUEST_ID, ...(reason && { reason }) },
});

/** One answer a status, with an example for each of its codes. */
function errorAnswers(refusals: Refusal[]): Record<string, Answer> {
  const byStatus = Map.groupBy(refusals, ({ code }) => STATUS[code]);
  const answer = (rows: Refusal[]): Answer => ({
    description: rows.map(({ code, when }) => `\`${code}\`: ${when}`).join(' '),
    headers: headerRefs(['X-Request-Id', ...new Set(rows.flatMap(row => row.headers ?? []))]),
    content: {
      'application/json': {
        schema: ref('schemas', 'ErrorEnvelope'),
        examples: Object.fromEntries(
          rows.map(row => [row.code, { summary: row.when, value: envelope(row) }]),
        ),
      },
    },
  });
  return Object.fromEntries([...byStatus].map(([status, rows]) => [String(status), answer(rows)]));
}

const jsonAnswer = (description: string, schema: string, example: unknown): Answer => ({
  description,
  headers: headerRefs(['X-Request-Id']),
  content: { 'application/json': { schema: ref('schemas', schema), example } },
});

const renderBody = (): NonNullable<Operation['requestBody']> => ({
  required: true,
  description: 'What to render and how. Only `html` or `url` is needed.',
  content: {
    'application/json': {
      schema: ref('schemas', 'RenderRequest'),
      examples: {
        html: { summary: 'An HTML document', value: EXAMPLE_REQUESTS.html },
        url: { summary: 'A public page', value: EXAMPLE_REQUESTS.url },
      },
    },
  },
});

const pdfAnswer = (headers: readonly HeaderName[]): Answer => ({
  description: 'The PDF.',
  headers: headerRefs(headers),
  content: {
    'application/pdf': { schema: { type: 'string', contentMediaType: 'application/pdf' } },
  },
});

const renderOperation = (dashboardUrl: string): Operation => ({
  operationId: 'render',
  summary: 'Render HTML or a URL to PDF',
  description: 'Answers with the PDF itself. Only a render that succeeds is counted.',
  security: [{ apiKey: [] }],
  requestBody: renderBody(),
  responses: { '200': pdfAnswer(PDF_HEADERS), ...errorAnswers(renderRefusals(dashboardUrl)) },
});

const trialOperation: Operation = {
  operationId: 'trialRender',
  summary: 'Render without a key, to try it',
  description:
    'The same render as `POST /v1/render`, for a few calls a minute from one address (5 by default), and only while the service has nothing else to do. Nothing is counted.',
  security: [],
  requestBody: renderBody(),
  responses: { '200': pdfAnswer(TRIAL_PDF_HEADERS), ...errorAnswers(trialRefusals) },
};

const healthOperation: Operation = {
  operationId: 'health',
  summary: 'Liveness',
  description: 'Answers while the process can answer at all.',
  security: [],
  responses: { '200': jsonAnswer('The process answers.', 'Health', { status: 'ok' }) },
};

const readiness = (
  status: 'ready' | 'unavailable',
  database: 'ok' | 'unavailable',
  ready: number,
) => ({
  status,
  checks: { database: { status: database }, workers: { ready, slots: 8 } },
});

const readinessOperation: Operation = {
  operationId: 'readiness',
  summary: 'Readiness',
  description: 'Reports the database and the rendering workers, for people and monitors.',
  security: [],
  responses: {
    '200': jsonAnswer('Renders are taken.', 'Readiness', readiness('ready', 'ok', 5)),
    '503': jsonAnswer(
      'Something that rendering needs is missing.',
      'Readiness',
      readiness('unavailable', 'unavailable', 5),
    ),
  },
};

const chatPrograms = (mcpUrl: string) =>
  ` Chat programs have the MCP tool \`render_pdf\` at \`${mcpUrl}\`: it takes the same fields, and the dashboard's sign-in (OAuth) in place of an API key.`;

export interface Described {
  publicUrl: string;
  trial?: boolean;
  mcpUrl?: string | undefined;
}

/**
 * The description as one JSON value. `publicUrl` is the configured one, without a slash at its end;
 * every absolute address is built from it. `trial`: whether renders without a key are switched on.
 * `mcpUrl`: where the tool for chat programs is, if anywhere.
 */
export const openApi = ({ publicUrl, trial = true, mcpUrl }: Described): OpenApi => ({
  openapi: '3.1.0',
  info: {
    title: 'Pressroom',
    version: API_VERSION,
    description: `HTML or a public URL in, a PDF out.${mcpUrl === undefined ? '' : chatPrograms(mcpUrl)}`,
  },
  servers: [{ url: publicUrl }],
  externalDocs: { description: 'The same for people', url: `${publicUrl}/docs` },
  paths: {
    [OPERATIONS.render.path]: { [OPERATIONS.render.method]: renderOperation(`${publicUrl}/app`) },
    ...(trial && {
      [OPERATIONS.trialRender.path]: { [OPERATIONS.trialRender.method]: trialOperation },
    }),
    [OPERATIONS.health.path]: { [OPERATIONS.health.method]: healthOperation },
    [OPERATIONS.readiness.path]: { [OPERATIONS.readiness.method]: readinessOperation },
  },
  components: {
    schemas: {
      RenderRequest: jsonSchema(renderRequestSchema),
      ErrorEnvelope: jsonSchema(errorEnvelopeSchema),
      Health: jsonSchema(healthSchema),
      Readiness: jsonSchema(readinessSchema),
    },
    headers: HEADERS,
    securitySchemes: {
      apiKey: {
        type: 'http',
        scheme: 'bearer',
        description:
          'An API key, `pressroom_live_…`. It is shown once when it is made; revoke one that leaked.',
      },
    },
  },
});
