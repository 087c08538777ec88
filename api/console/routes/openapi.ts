// The description of the management API (OpenAPI 3.1), made from the same rows as its routes. Owns
// its words on sessions and errors. Pure.
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
 * The name under which the contract exports a schema is published: programs are generated from it.
 * Other schemas stand where they are used.
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
    'the path, the query or the body is wrong; the message names the field and says how to mend it',
  payload_too_large: 'the body is too large',
  unauthorized: 'nobody is signed in',
  forbidden: 'the role does not allow this, or the call came from another site',
  not_found: 'there is no such thing, or it is not of this account',
  conflict: 'it cannot be done as things stand; the message says why',
  rate_limited: 'too many calls; `Retry-After` says when to come back',
  subscription_inactive: 'the account is suspended, or its subscription is not paid',
  concurrency_limit: 'as many renders as the plan allows are running',
  ssrf_blocked: 'the page leads to an address that is not public',
  render_failed: 'the page could not be rendered; `reason` says why',
  unavailable: 'something that this needs does not answer at the moment',
  internal: 'something went wrong on our side',
} satisfies Partial<Record<ErrorCode, string>>;
type Described = keyof typeof WHEN;

/** What a row can answer besides what it is for. */
function codesOf({ access, path, query, body, answer, method }: ConsoleRoute): Described[] {
  const named = path.includes(':');
  const renders = answer === 'application/pdf';
  return [
    ...(query || body ? (['validation_error'] as const) : []),
    ...(body ? (['payload_too_large'] as const) : []),
    'unauthorized',
    // A reading call without an account can only be refused for coming from another site, which no
    // program meets.
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

function whoMay({ access, method }: ConsoleRoute): string {
  if (access === 'signed-in') return 'For everybody who is signed in.';
  if (access === 'operator') return 'For who runs the installation.';
  return `Needs the permission \`${access.permission}\` in the account${method === 'get' ? ', or to run the installation' : ''}.`;
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
  // What a text of the query becomes says more than that it is a text; what must be given is the
  // caller's side.
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

/** `publicUrl`: the configured one, without a slash at its end. */
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
    if (answer === 'none') return { '204': { description: 'Done.' } };
    if (typeof answer === 'string')
      return {
        '200': {
          description: 'Done.',
          content: { [answer]: { schema: { type: 'string', contentMediaType: answer } } },
        },
      };
    return {
      [status ?? 200]: {
        description: status === 201 ? 'Made.' : 'Done.',
        content: { 'application/json': { schema: schemaOf(answer, 'output') } },
      },
    };
  }

  const operation = (row: ConsoleRoute): ConsoleOperation => ({
    operationId: row.id,
    summary: row.summary,
    description: whoMay(row),
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
      title: 'Pressroom, management API',
      version: API_VERSION,
      description:
        'What the dashboard does, for programs. Every call carries the cookie of a session. JSON in and out; unknown fields are refused by name; a call that another site makes a browser send is refused.',
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
          description: 'The session of a person, opened by signing in at `/app/sign-in`.',
        },
      },
    },
  };
}
