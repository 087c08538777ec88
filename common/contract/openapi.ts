// The OpenAPI 3.1 document, generated from the schemas that validate requests. Defines the
// operations; most texts are in fields.ts and answers.ts.
import type { z } from 'zod';
import {
  accountSchema,
  EXAMPLE_ACCOUNT,
  EXAMPLE_USAGE,
  readErrorCases,
  usageQuerySchema,
  usageSchema,
} from './account.ts';
import {
  ENVELOPE_NAMES,
  type ErrorCase,
  type ErrorEnvelope,
  EXAMPLE_REQUEST_ID,
  errorEnvelopeSchema,
  HEADERS,
  type HeaderName,
  healthSchema,
  PDF_HEADERS,
  readinessSchema,
  renderErrorCases,
  TRIAL_PDF_HEADERS,
  trialErrorCases,
} from './answers.ts';
import { STATUS } from './errors.ts';
import {
  addComponent,
  type JsonSchema,
  propertiesOf,
  type Schemas,
  schemaRef,
} from './json-schema.ts';
import { EXAMPLE_REQUESTS, renderRequestSchema } from './render-request.ts';

export const API_VERSION = '0.1.0';

/** Method and path of each operation, for the router and the document. */
export const OPERATIONS = {
  render: { method: 'post', path: '/v1/render' },
  trialRender: { method: 'post', path: '/v1/trial/render' },
  account: { method: 'get', path: '/v1/account' },
  usage: { method: 'get', path: '/v1/usage' },
  health: { method: 'get', path: '/healthz' },
  readiness: { method: 'get', path: '/readyz' },
} as const;

/** Generated clients group the operations by tag. */
const TAGS = {
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
  in: 'query';
  required: false;
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

export interface OpenApi {
  openapi: '3.1.0';
  info: { title: string; version: string; description: string; license: typeof LICENSE };
  tags: { name: string; description: string }[];
  servers: { url: string }[];
  externalDocs: { description: string; url: string };
  paths: Record<string, Record<string, Operation>>;
  components: {
    schemas: Schemas;
    headers: Record<string, { description: string; schema: object; example: unknown }>;
    securitySchemes: Record<string, object>;
  };
}

const headerRef = (name: HeaderName) => ({ $ref: `#/components/headers/${name}` });

export const headerRefs = (names: readonly HeaderName[]) =>
  Object.fromEntries(names.map(name => [name, headerRef(name)]));

const envelope = ({ code, message, reason }: ErrorCase): ErrorEnvelope => ({
  error: { code, message, request_id: EXAMPLE_REQUEST_ID, ...(reason && { reason }) },
});

/** One response per status, with an example of each of its codes. */
/** `headers`: that each of them can have. */
function errorAnswers(
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

const jsonAnswer = (description: string, schema: string, example: unknown): Answer => ({
  description,
  headers: headerRefs(['X-Request-Id']),
  content: { 'application/json': { schema: schemaRef(schema), example } },
});

const renderBody = (): NonNullable<Operation['requestBody']> => ({
  required: true,
  description: 'The render request. Only `html` or `url` is required.',
  content: {
    'application/json': {
      schema: schemaRef('RenderRequest'),
      examples: {
        html: { summary: 'An HTML document', value: EXAMPLE_REQUESTS.html },
        url: { summary: 'A public page', value: EXAMPLE_REQUESTS.url },
      },
    },
  },
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

const renderOperation = (dashboardUrl: string): Operation => ({
  operationId: 'render',
  tags: ['Rendering'],
  summary: 'Render HTML or a URL to PDF',
  description:
    'Renders HTML or a public URL and returns the PDF. Only successful renders count toward usage.',
  security: [{ apiKey: [] }],
  requestBody: renderBody(),
  responses: {
    '200': pdfAnswer(PDF_HEADERS),
    ...errorAnswers(renderErrorCases(dashboardUrl), ['Server-Timing']),
  },
});

const trialOperation: Operation = {
  operationId: 'trialRender',
  tags: ['Rendering'],
  summary: 'Render without an API key (trial)',
  description:
    "Renders like `POST /v1/render`, without authentication. Limited to a few renders per minute per IP address (5 by default). Customers' renders take precedence. Trial renders don't count toward usage.",
  security: [],
  requestBody: renderBody(),
  responses: { '200': pdfAnswer(TRIAL_PDF_HEADERS), ...errorAnswers(trialErrorCases) },
};

const accountOperation: Operation = {
  operationId: 'getAccount',
  tags: ['Account'],
  summary: 'Retrieve the account',
  description:
    'Returns the plan, its concurrency limit, the number of running renders and the usage. Requires an API key with the scope `read`. Works in every state of the subscription.',
  security: [{ apiKey: [] }],
  responses: {
    '200': jsonAnswer('The account.', 'Account', EXAMPLE_ACCOUNT),
    ...errorAnswers(readErrorCases),
  },
};

/** `description` and `examples` of a parameter stand beside its schema. */
const usageParameters = (): Parameter[] =>
  Object.entries(
    propertiesOf(usageQuerySchema, 'input', { schemas: {}, defaultName: 'UsageQuery' }),
  ).map(([name, { description = '', ...schema }]) => ({
    name,
    in: 'query',
    required: false,
    description,
    schema,
  }));

const usageOperation = (): Operation => ({
  operationId: 'getUsage',
  tags: ['Account'],
  summary: 'Retrieve the usage',
  description:
    'Returns renders by day or by API key, as in the dashboard. The figures are a few seconds behind; the count of the billing period in `GET /v1/account` is up to date. Requires an API key with the scope `read`.',
  security: [{ apiKey: [] }],
  parameters: usageParameters(),
  responses: {
    '200': {
      description: 'The usage.',
      headers: headerRefs(['X-Request-Id']),
      content: { 'application/json': { schema: schemaRef('Usage'), examples: EXAMPLE_USAGE } },
    },
    ...errorAnswers(readErrorCases),
  },
});

const healthOperation: Operation = {
  operationId: 'health',
  tags: ['Service'],
  summary: 'Liveness',
  description: 'Returns 200 while the process is running.',
  security: [],
  responses: { '200': jsonAnswer('The process is running.', 'Health', { status: 'ok' }) },
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
  tags: ['Service'],
  summary: 'Readiness',
  description: 'Reports whether the database and the rendering workers are available.',
  security: [],
  responses: {
    '200': jsonAnswer('Ready to render.', 'Readiness', readiness('ready', 'ok', 5)),
    '503': jsonAnswer(
      'The database or the workers are unavailable.',
      'Readiness',
      readiness('unavailable', 'unavailable', 5),
    ),
  },
};

export const LICENSE = { name: 'Apache License 2.0', identifier: 'Apache-2.0' };

const schemas = (usage: boolean): Schemas => {
  const made: Schemas = {};
  const add = (defaultName: string, schema: z.ZodType, io: 'input' | 'output') =>
    addComponent(schema, io, { schemas: made, defaultName, names: ENVELOPE_NAMES });
  add('RenderRequest', renderRequestSchema, 'input');
  add('ErrorEnvelope', errorEnvelopeSchema, 'output');
  add('Account', accountSchema, 'output');
  if (usage) add('Usage', usageSchema, 'output');
  add('Health', healthSchema, 'output');
  add('Readiness', readinessSchema, 'output');
  return made;
};

const INTRODUCTION = 'Turn HTML or a public URL into a PDF.';
const introductionWithMcp = (mcpUrl: string) =>
  `${INTRODUCTION} AI assistants and editors can use the MCP tool \`render_pdf\` at \`${mcpUrl}\`. It takes the same fields and uses OAuth with the dashboard instead of an API key.`;

export interface Described {
  publicUrl: string;
  trial?: boolean;
  usage?: boolean;
  mcpUrl?: string | undefined;
}

/**
 * The OpenAPI document. `publicUrl`: the base of all absolute URLs, without a trailing slash.
 * `trial`, `usage`: whether trial renders and GET /v1/usage are on. `mcpUrl`: the URL of the MCP
 * server, if it is on.
 */
export const openApi = ({ publicUrl, trial = true, usage = true, mcpUrl }: Described): OpenApi => ({
  openapi: '3.1.0',
  info: {
    title: 'Pressroom',
    version: API_VERSION,
    description: mcpUrl === undefined ? INTRODUCTION : introductionWithMcp(mcpUrl),
    license: LICENSE,
  },
  tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
  servers: [{ url: publicUrl }],
  externalDocs: { description: 'API reference', url: `${publicUrl}/docs` },
  paths: {
    [OPERATIONS.render.path]: { [OPERATIONS.render.method]: renderOperation(`${publicUrl}/app`) },
    ...(trial && {
      [OPERATIONS.trialRender.path]: { [OPERATIONS.trialRender.method]: trialOperation },
    }),
    [OPERATIONS.account.path]: { [OPERATIONS.account.method]: accountOperation },
    ...(usage && { [OPERATIONS.usage.path]: { [OPERATIONS.usage.method]: usageOperation() } }),
    [OPERATIONS.health.path]: { [OPERATIONS.health.method]: healthOperation },
    [OPERATIONS.readiness.path]: { [OPERATIONS.readiness.method]: readinessOperation },
  },
  components: {
    schemas: schemas(usage),
    headers: HEADERS,
    securitySchemes: {
      apiKey: {
        type: 'http',
        scheme: 'bearer',
        description:
          'An API key (`pressroom_live_…`) from the dashboard, or a test key (`pressroom_test_…`), whose renders are sandbox renders. It is shown once, when you create it. Revoke a leaked key immediately.',
      },
    },
  },
});
