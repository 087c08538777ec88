// The OpenAPI 3.1 document of the management API, generated from the rows of its routes. Owns the
// descriptions of sessions and errors. Pure.
import { z } from 'zod';
import { errorEnvelopeSchema } from '../../../common/contract/answers.ts';
import { type ErrorCode, STATUS } from '../../../common/contract/errors.ts';
import { API_VERSION, type JsonSchema } from '../../../common/contract/openapi.ts';
import * as accountSchemas from '../contract/accounts.ts';
import * as peopleSchemas from '../contract/users.ts';
import type { ConsoleRoute } from '../kit/route.ts';
import { CONSOLE_PREFIX } from './console-router.ts';

interface Answer {
  description: string;
  content?: Record<string, { schema: object }>;
}

interface Parameter {
  name: string;
  in: 'path' | 'query';
  required: boolean;
  description?: string;
  schema: object;
}

export interface ConsoleOperation {
  operationId: string;
  summary: string;
  description: string;
  tags: string[];
  parameters: Parameter[];
  requestBody?: { required: true; content: { 'application/json': { schema: object } } };
  responses: Record<string, Answer>;
}

export interface ConsoleOpenApi {
  openapi: '3.1.0';
  info: { title: string; version: string; description: string };
  servers: { url: string }[];
  security: Record<string, string[]>[];
  paths: Record<string, Record<string, ConsoleOperation>>;
  components: { schemas: Record<string, JsonSchema>; securitySchemes: Record<string, object> };
}

const capital = (name: string) => name[0]!.toUpperCase() + name.slice(1);

/**
 * Schemas are published under the name of their export: generated clients depend on it. Other
 * schemas are inlined.
 */
const names = new Map(
  Object.entries({ ...peopleSchemas, ...accountSchemas }).flatMap(
    ([name, value]): [z.ZodType, string][] =>
      value instanceof z.ZodType ? [[value, capital(name)]] : [],
  ),
);

function jsonSchema(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, target: 'draft-2020-12' });
  return rest;
}

const ENVELOPE = { $ref: '#/components/schemas/ErrorEnvelope' };

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
  ssrf_blocked: 'the URL leads to an address that is not public',
  render_failed: 'the page could not be rendered; `reason` has the cause',
  unavailable: 'a required service is temporarily unavailable',
  internal: 'something went wrong on our side',
} satisfies Partial<Record<ErrorCode, string>>;
type Described = keyof typeof WHEN;

/** The error codes that a row can return. */
function codesOf({ access, path, query, body, answer, method }: ConsoleRoute): Described[] {
  const named = path.includes(':');
  const renders = answer === 'application/pdf';
  return [
    ...(query || body ? (['validation_error'] as const) : []),
    ...(body ? (['payload_too_large'] as const) : []),
    'unauthorized',
    // A GET without an account is only forbidden for cross-site requests, which API clients do not
    // send.
    ...(access !== 'signed-in' || method !== 'get' ? (['forbidden'] as const) : []),
    ...(named ? (['not_found'] as const) : []),
    ...(method === 'get' ? [] : (['conflict', 'rate_limited'] as const)),
    ...(renders
      ? (['subscription_inactive', 'concurrency_limit', 'ssrf_blocked', 'render_failed'] as const)
      : []),
    'internal',
    'unavailable',
  ];
}

function errorAnswers(row: ConsoleRoute): Record<string, Answer> {
  const byStatus = Map.groupBy(codesOf(row), code => STATUS[code]);
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => [
      String(status),
      {
        description: codes.map(code => `\`${code}\`: ${WHEN[code]}.`).join(' '),
        content: { 'application/json': { schema: ENVELOPE } },
      },
    ]),
  );
}

function accessText({ access, method }: ConsoleRoute): string {
  if (access === 'signed-in') return 'For all signed-in users.';
  if (access === 'operator') return 'For administrators of the installation.';
  return method === 'get'
    ? `Requires the permission \`${access.permission}\` in the account, or an administrator of the installation.`
    : `Requires the permission \`${access.permission}\` in the account.`;
}

const tagOf = ({ path }: ConsoleRoute): string =>
  path.startsWith('/operator')
    ? 'Operator'
    : path.startsWith('/accounts')
      ? 'Account'
      : path.startsWith('/me')
        ? 'Me'
        : 'Description';

function parametersOf({ path, query }: ConsoleRoute): Parameter[] {
  const inPath = [...path.matchAll(/:(\w+)/g)].map(
    ([, name]): Parameter => ({
      name: name!,
      in: 'path',
      required: true,
      schema: { type: 'string' },
    }),
  );
  // The parsed type tells more than the string in the query; whether it is required is an input rule.
  const { properties = {} } = query ? jsonSchema(query, 'output') : {};
  const { required = [] } = query ? jsonSchema(query, 'input') : {};
  const inQuery = Object.entries(properties).map(
    ([name, schema]): Parameter => ({
      name,
      in: 'query',
      required: required.includes(name),
      schema: schema as object,
    }),
  );
  return [...inPath, ...inQuery];
}

/** `publicUrl`: without a trailing slash. */
export function consoleOpenApi(publicUrl: string, rows: readonly ConsoleRoute[]): ConsoleOpenApi {
  const schemas: Record<string, JsonSchema> = {
    ErrorEnvelope: jsonSchema(errorEnvelopeSchema, 'output'),
  };

  function schemaOf(schema: z.ZodType, io: 'input' | 'output'): object {
    const name = names.get(schema);
    if (name === undefined) return jsonSchema(schema, io);
    schemas[name] ??= jsonSchema(schema, io);
    return { $ref: `#/components/schemas/${name}` };
  }

  function goodAnswer({ answer, status }: ConsoleRoute): Record<string, Answer> {
    if (answer === 'none') return { '204': { description: 'Success.' } };
    if (typeof answer === 'string')
      return {
        '200': {
          description: 'Success.',
          content: { [answer]: { schema: { type: 'string', contentMediaType: answer } } },
        },
      };
    return {
      [status ?? 200]: {
        description: status === 201 ? 'Created.' : 'Success.',
        content: { 'application/json': { schema: schemaOf(answer, 'output') } },
      },
    };
  }

  const operation = (row: ConsoleRoute): ConsoleOperation => ({
    operationId: row.id,
    summary: row.summary,
    description: accessText(row),
    tags: [tagOf(row)],
    parameters: parametersOf(row),
    ...(row.body && {
      requestBody: {
        required: true,
        content: { 'application/json': { schema: schemaOf(row.body, 'input') } },
      },
    }),
    responses: { ...goodAnswer(row), ...errorAnswers(row) },
  });

  const paths: ConsoleOpenApi['paths'] = {};
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
        'The API of the dashboard. Every request needs a session cookie. Requests and responses are JSON. Unknown fields and cross-site requests are rejected.',
    },
    servers: [{ url: `${publicUrl}${CONSOLE_PREFIX}` }],
    security: [{ session: [] }],
    paths,
    components: {
      schemas,
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
