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
  errorEnvelopeSchema,
  HEADERS,
  type HeaderDefinition,
  healthSchema,
  PDF_HEADERS,
  readinessSchema,
  renderErrorCases,
  TRIAL_PDF_HEADERS,
  trialErrorCases,
} from './answers.ts';
import {
  ASYNC_RENDER_NAMES,
  asyncRenderListSchema,
  asyncRenderSchema,
  ttlSchema,
} from './async-renders.ts';
import { batchRequestSchemas, batchSchema } from './batches.ts';
import { addComponent, type JsonSchema, type Schemas, schemaRef } from './json-schema.ts';
import { asyncPaths } from './openapi-async.ts';
import {
  errorAnswers,
  headerRefs,
  jsonResponse,
  type Operation,
  pdfAnswer,
  queryParameters,
  TAGS,
} from './openapi-parts.ts';
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
    '200': jsonResponse('The account.', 'Account', EXAMPLE_ACCOUNT),
    ...errorAnswers(readErrorCases),
  },
};

const usageOperation = (): Operation => ({
  operationId: 'getUsage',
  tags: ['Account'],
  summary: 'Retrieve the usage',
  description:
    'Returns renders by day or by API key, as in the dashboard. The figures are a few seconds behind; the count of the billing period in `GET /v1/account` is up to date. Requires an API key with the scope `read`.',
  security: [{ apiKey: [] }],
  parameters: queryParameters(usageQuerySchema, 'UsageQuery'),
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
  responses: { '200': jsonResponse('The process is running.', 'Health', { status: 'ok' }) },
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
    '200': jsonResponse('Ready to render.', 'Readiness', readiness('ready', 'ok', 5)),
    '503': jsonResponse(
      'The database or the workers are unavailable.',
      'Readiness',
      readiness('unavailable', 'unavailable', 5),
    ),
  },
};

export const LICENSE = { name: 'Apache License 2.0', identifier: 'Apache-2.0' };

/**
 * A RenderRequest with `ttl`. Made of the same components, since generators would otherwise make two
 * types of each.
 */
function addAsyncRequest(made: Schemas): void {
  const request = made['RenderRequest']!;
  const properties = request.properties as Record<string, JsonSchema>;
  made['EmulateMedia'] = properties['emulate_media']!;
  properties['emulate_media'] = schemaRef('EmulateMedia');
  made['AsyncRenderRequest'] = {
    ...request,
    description: `${request.description} \`ttl\` is how long the render is kept.`,
    properties: { ...properties, ttl: ttlSchema },
  };
}

const schemas = (usage: boolean, asyncRenders: boolean): Schemas => {
  const made: Schemas = {};
  const names = new Map([...ENVELOPE_NAMES, ...ASYNC_RENDER_NAMES]);
  const add = (defaultName: string, schema: z.ZodType, io: 'input' | 'output') =>
    addComponent(schema, io, { schemas: made, defaultName, names });
  add('RenderRequest', renderRequestSchema, 'input');
  add('ErrorEnvelope', errorEnvelopeSchema, 'output');
  add('Account', accountSchema, 'output');
  if (usage) add('Usage', usageSchema, 'output');
  if (asyncRenders) {
    addAsyncRequest(made);
    add('AsyncRender', asyncRenderSchema, 'output');
    add('AsyncRenderList', asyncRenderListSchema, 'output');
    add('Batch', batchSchema, 'output');
    Object.assign(made, batchRequestSchemas(made['AsyncRenderRequest']!));
  }
  add('Health', healthSchema, 'output');
  add('Readiness', readinessSchema, 'output');
  return made;
};

/** Linters report a component that no operation uses. */
const headers = (asyncRenders: boolean): Record<string, HeaderDefinition> => {
  const { Location, ...others } = HEADERS;
  return asyncRenders ? { ...others, Location } : others;
};

const INTRODUCTION = 'Turn HTML or a public URL into a PDF.';
const introductionWithMcp = (mcpUrl: string) =>
  `${INTRODUCTION} AI assistants and editors can use the MCP tool \`render_pdf\` at \`${mcpUrl}\`. It takes the same fields and uses OAuth with the dashboard instead of an API key.`;

export interface Described {
  publicUrl: string;
  trial?: boolean;
  asyncRenders?: boolean;
  usage?: boolean;
  mcpUrl?: string | undefined;
}

/**
 * The OpenAPI document. `publicUrl`: the base of all absolute URLs, without a trailing slash.
 * `trial`, `usage`, `asyncRenders`: whether trial renders, GET /v1/usage and /v1/renders are on.
 * `mcpUrl`: the URL of the MCP server, if it is on.
 */
export const openApi = ({
  publicUrl,
  trial = true,
  usage = true,
  asyncRenders = false,
  mcpUrl,
}: Described): OpenApi => ({
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
    ...(asyncRenders && asyncPaths(`${publicUrl}/app`)),
    [OPERATIONS.account.path]: { [OPERATIONS.account.method]: accountOperation },
    ...(usage && { [OPERATIONS.usage.path]: { [OPERATIONS.usage.method]: usageOperation() } }),
    [OPERATIONS.health.path]: { [OPERATIONS.health.method]: healthOperation },
    [OPERATIONS.readiness.path]: { [OPERATIONS.readiness.method]: readinessOperation },
  },
  components: {
    schemas: schemas(usage, asyncRenders),
    headers: headers(asyncRenders),
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
