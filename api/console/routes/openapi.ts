// The OpenAPI 3.1 document of the management API, generated from the rows of its routes. Owns the
// descriptions of sessions and errors. Pure.
import { z } from 'zod';
import {
  ENVELOPE_NAMES,
  errorEnvelopeSchema,
  HEADERS,
  PDF_HEADERS,
  STORED_PDF_HEADERS,
} from '../../../common/contract/answers.ts';
import { ASYNC_RENDER_NAMES } from '../../../common/contract/async-renders.ts';
import { batchSchema } from '../../../common/contract/batches.ts';
import { type ErrorCode, STATUS } from '../../../common/contract/errors.ts';
import {
  addComponent,
  capital,
  jsonSchema,
  propertiesOf,
  type SchemaNames,
  type Schemas,
  schemaRef,
} from '../../../common/contract/json-schema.ts';
import { API_VERSION, LICENSE } from '../../../common/contract/openapi.ts';
import { headerRefs, pdfAnswer } from '../../../common/contract/openapi-parts.ts';
import * as accountSchemas from '../contract/accounts.ts';
import * as asyncSchemas from '../contract/async-renders.ts';
import * as pageReportSchemas from '../contract/page-report.ts';
import * as peopleSchemas from '../contract/users.ts';
import type { ConsoleRoute } from '../kit/route.ts';
import { CONSOLE_PREFIX, operatorMayRead } from './console-router.ts';

interface Answer {
  description: string;
  headers: Record<string, { $ref: string }>;
  content?: Record<string, { schema: object }>;
}

interface Parameter {
  name: string;
  in: 'path' | 'query';
  required: boolean;
  description?: string;
  schema: object;
}

export type ConsoleOpenApi = ReturnType<typeof consoleOpenApi>;
export type ConsoleOperation = ConsoleOpenApi['paths'][string][string];

/** Generated clients group the operations by tag. */
const TAGS = {
  Me: 'The signed-in user.',
  Account: 'An account: keys, renders, usage, team and billing.',
  Operator: 'For administrators of the installation.',
  Description: 'This document.',
} as const;
type Tag = keyof typeof TAGS;

/**
 * Schemas are published under the name of their export: generated clients depend on it. Objects in
 * them are named after their path.
 */
const names: SchemaNames = new Map<z.core.$ZodType, string>([
  ...ENVELOPE_NAMES,
  ...ASYNC_RENDER_NAMES,
  [batchSchema, 'Batch'],
  ...Object.entries({
    ...peopleSchemas,
    ...accountSchemas,
    ...asyncSchemas,
    ...pageReportSchemas,
  }).flatMap(([name, value]): [z.ZodType, string][] =>
    value instanceof z.ZodType ? [[value, capital(name)]] : [],
  ),
]);

const HEADER_NAMES = [...PDF_HEADERS, 'Retry-After', 'X-Concurrency-Limit'] as const;

const WHEN = {
  validation_error:
    'the path, the query or the body is invalid; the message names the field and how to fix it',
  payload_too_large: 'the body is too large',
  unauthorized: 'not signed in, or the session has expired',
  forbidden: 'the role lacks the permission, or the request is cross-site',
  not_found: 'the object does not exist or belongs to another account',
  conflict: 'the current state does not allow the change; the message has the reason',
  rate_limited: 'too many requests; try again after the seconds in `Retry-After`',
  subscription_inactive: 'the account is suspended, or its subscription is unpaid or canceled',
  concurrency_limit: 'the concurrency limit of the plan is reached',
  ssrf_blocked: 'the URL points to an address that is not public',
  render_failed: 'the page could not be rendered; `reason` has the cause',
  unavailable: 'a required service is temporarily unavailable',
  gone: 'the PDF has expired',
  internal: 'an internal error occurred',
} satisfies Partial<Record<ErrorCode, string>>;
type Described = keyof typeof WHEN;

/** The error codes that a row can return. */
function codesOf({ access, path, query, body, answer, method }: ConsoleRoute): Described[] {
  const named = path.includes(':');
  const renders = answer === 'application/pdf' && method === 'post';
  const downloads = answer === 'application/pdf' && method === 'get';
  return [
    ...(query || body ? (['validation_error'] as const) : []),
    ...(body ? (['payload_too_large'] as const) : []),
    ...(access === 'public' ? [] : (['unauthorized'] as const)),
    // A GET without an account is only forbidden for cross-site requests, which API clients do not
    // send.
    ...((access !== 'signed-in' && access !== 'public') || method !== 'get'
      ? (['forbidden'] as const)
      : []),
    ...(named ? (['not_found'] as const) : []),
    ...(method === 'get' ? [] : (['conflict', 'rate_limited'] as const)),
    ...(downloads ? (['conflict', 'gone'] as const) : []),
    ...(renders
      ? (['subscription_inactive', 'concurrency_limit', 'ssrf_blocked', 'render_failed'] as const)
      : []),
    'internal',
    'unavailable',
  ];
}

/** Errors that a later call can solve say when. */
const RETRIED: ReadonlySet<ErrorCode> = new Set([
  'rate_limited',
  'concurrency_limit',
  'render_failed',
  'unavailable',
]);

function errorAnswers(row: ConsoleRoute): Record<string, Answer> {
  const byStatus = Map.groupBy(codesOf(row), code => STATUS[code]);
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => [
      String(status),
      {
        description: codes.map(code => `\`${code}\`: ${WHEN[code]}.`).join(' '),
        headers: headerRefs([
          'X-Request-Id',
          ...(codes.some(code => RETRIED.has(code)) ? (['Retry-After'] as const) : []),
          ...(codes.includes('concurrency_limit') ? (['X-Concurrency-Limit'] as const) : []),
          ...(codes.includes('render_failed') ? (['Server-Timing'] as const) : []),
        ]),
        content: { 'application/json': { schema: schemaRef('ErrorEnvelope') } },
      },
    ]),
  );
}

function accessText(row: ConsoleRoute): string {
  const { access } = row;
  if (access === 'public') return 'Needs no session.';
  if (access === 'signed-in') return 'For all signed-in users.';
  if (access === 'operator') return 'For administrators of the installation.';
  return operatorMayRead(row)
    ? `Requires the permission \`${access.permission}\` in the account, or an administrator of the installation.`
    : `Requires the permission \`${access.permission}\` in the account.`;
}

const tagOf = ({ path }: ConsoleRoute): Tag =>
  path.startsWith('/operator')
    ? 'Operator'
    : path.startsWith('/accounts')
      ? 'Account'
      : path.startsWith('/me')
        ? 'Me'
        : 'Description';

function parametersOf({ id, path, query }: ConsoleRoute, schemas: Schemas): Parameter[] {
  const inPath = [...path.matchAll(/:(\w+)/g)].map(
    ([, name]): Parameter => ({
      name: name!,
      in: 'path',
      required: true,
      schema: { type: 'string' },
    }),
  );
  // The parsed type tells more than the string in the query; whether it is required is an input rule.
  const target = { schemas, defaultName: `${capital(id)}Query`, names };
  const properties = query ? propertiesOf(query, 'output', target) : {};
  const { required = [] } = query ? jsonSchema(query, 'input') : {};
  const inQuery = Object.entries(properties).map(
    ([name, schema]): Parameter => ({
      name,
      in: 'query',
      required: required.includes(name),
      schema,
    }),
  );
  return [...inPath, ...inQuery];
}

/** `publicUrl`: without a trailing slash. */
export function consoleOpenApi(publicUrl: string, rows: readonly ConsoleRoute[]) {
  const schemas: Schemas = {};
  const add = (defaultName: string, schema: z.ZodType, io: 'input' | 'output') =>
    addComponent(schema, io, { schemas, defaultName, names });
  add('ErrorEnvelope', errorEnvelopeSchema, 'output');

  function goodAnswer({ id, answer, method, status }: ConsoleRoute): Record<string, Answer> {
    const headers = headerRefs(['X-Request-Id']);
    if (answer === 'none') return { '204': { description: 'Success.', headers } };
    if (answer === 'application/pdf')
      return { '200': pdfAnswer(method === 'get' ? STORED_PDF_HEADERS : PDF_HEADERS) };
    if (answer === 'text/csv')
      return {
        '200': {
          description: 'Success.',
          headers: headerRefs(['X-Request-Id', 'Content-Disposition']),
          content: { 'text/csv': { schema: { type: 'string' } } },
        },
      };
    const schema = add(`${capital(id)}Answer`, answer, 'output');
    return {
      [status ?? 200]: {
        description: status === 201 ? 'Created.' : 'Success.',
        headers,
        content: { 'application/json': { schema } },
      },
    };
  }

  const operation = (row: ConsoleRoute) => ({
    operationId: row.id,
    summary: row.summary,
    description: accessText(row),
    tags: [tagOf(row)],
    ...(row.access === 'public' && { security: [] }),
    parameters: parametersOf(row, schemas),
    ...(row.body && {
      requestBody: {
        required: true,
        content: {
          'application/json': { schema: add(`${capital(row.id)}Body`, row.body, 'input') },
        },
      },
    }),
    responses: { ...goodAnswer(row), ...errorAnswers(row) },
  });

  const paths: Record<string, Record<string, ReturnType<typeof operation>>> = {};
  for (const row of rows) {
    const path = row.path.replace(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [row.method]: operation(row) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Pressroom management API',
      version: API_VERSION,
      description:
        'The API of the dashboard. Every request needs a session cookie, except for this document. Requests and responses are JSON. Unknown fields and cross-site requests are rejected.',
      license: LICENSE,
    },
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    servers: [{ url: `${publicUrl}${CONSOLE_PREFIX}` }],
    security: [{ session: [] }],
    paths,
    components: {
      schemas,
      headers: Object.fromEntries(HEADER_NAMES.map(name => [name, HEADERS[name]])),
      securitySchemes: {
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: `${publicUrl.startsWith('https:') || /^http:\/\/([\w-]+\.)*localhost(:|$|\/)/.test(publicUrl) ? '__Host-' : ''}pressroom-session`,
          description: 'The session of a user, created by signing in at `/app/sign-in`.',
        },
      },
    },
  };
}
