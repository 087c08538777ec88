// The responses of the API: error envelope, headers, and when each error occurs, with descriptions
// and examples.
import { z } from 'zod';
import { ERRORS_GUIDE } from './error-guide.ts';
import {
  type ErrorCode,
  RENDER_FAILED_REASONS,
  type RenderFailedReason,
  STATUS,
} from './errors.ts';
import type { SchemaNames } from './json-schema.ts';
import { RENDER_WARNINGS, WARNING_TEXTS } from './warnings.ts';

export const EXAMPLE_REQUEST_ID = '019a8c5e-7d2b-7c44-9e1f-3b6a52c8d011';

export const errorCode = z
  .enum(Object.keys(STATUS) as [ErrorCode, ...ErrorCode[]])
  .meta({ description: 'The error code.' });

export const renderFailedReason = z.enum(RENDER_FAILED_REASONS).meta({
  description:
    'Only for `render_failed`: the reason. `page_status`, `page_unreachable`, `page_timeout`, `page_crash` and `output_limit` are caused by the page. For the other reasons, try again.',
});

/** The body of every error response. Later releases may add members. */
export const errorEnvelopeSchema = z
  .object({
    error: z.object({
      code: errorCode,
      message: z.string().meta({
        description:
          'A human-readable message: what is wrong and how to fix it. It may change; do not parse it.',
      }),
      request_id: z.uuid().meta({
        description: 'The request ID, as in the header `X-Request-Id`.',
        examples: [EXAMPLE_REQUEST_ID],
      }),
      reason: renderFailedReason.optional(),
      doc_url: z
        .url()
        .meta({
          description: 'The section of the docs about this error.',
          examples: [`https://pdf.example.com${ERRORS_GUIDE}#validation_error`],
        })
        .optional(),
    }),
  })
  .meta({ description: 'The body of every error response.' });
/** The names of its parts in the OpenAPI documents. */
export const ENVELOPE_NAMES: SchemaNames = new Map<z.core.$ZodType, string>([
  [errorCode, 'ErrorCode'],
  [renderFailedReason, 'RenderFailedReason'],
]);
export type ErrorEnvelope = z.output<typeof errorEnvelopeSchema>;

export const healthSchema = z
  .object({ status: z.literal('ok') })
  .meta({ description: 'The process is running.' });

export const readinessSchema = z
  .object({
    status: z.enum(['ready', 'unavailable']),
    checks: z.object({
      database: z
        .object({ status: z.enum(['ok', 'unavailable']) })
        .meta({ description: 'The state of the database.' }),
      workers: z
        .object({
          ready: z.int().min(0).meta({ description: 'Free slots.' }),
          slots: z.int().min(0).meta({ description: 'Slots of all connected workers.' }),
        })
        .meta({ description: 'The rendering workers.' }),
    }),
  })
  .meta({ description: 'The state of the database and the rendering workers.' });

export interface HeaderDefinition {
  description: string;
  schema: { type: 'string' | 'integer'; format?: string; minimum?: number; const?: string };
  example: string | number;
}

export const HEADERS = {
  'X-Request-Id': {
    description: 'The request ID, a UUID. Include it when contacting support.',
    schema: { type: 'string', format: 'uuid' },
    example: EXAMPLE_REQUEST_ID,
  },
  'X-Usage-Count': {
    description:
      "The account's usage in the current billing period, including this render. Absent for sandbox renders and when the usage could not be updated in time.",
    schema: { type: 'integer', minimum: 1 },
    example: 1284,
  },
  'X-Sandbox': {
    description:
      '`true` for a sandbox render, which has a watermark and does not count toward usage.',
    schema: { type: 'string', const: 'true' },
    example: 'true',
  },
  'X-Pdf-Pages': {
    description: 'The number of pages of the PDF.',
    schema: { type: 'integer', minimum: 1 },
    example: 3,
  },
  'X-Resource-Errors': {
    description:
      'Number of requests of the page that failed or were blocked, such as missing images. Absent when there are none. The render log of the dashboard lists them.',
    schema: { type: 'integer', minimum: 1 },
    example: 2,
  },
  'X-Warnings': {
    description: `What may be wrong with the PDF, separated by commas. Absent when nothing is. ${RENDER_WARNINGS.map(word => `\`${word}\`: ${WARNING_TEXTS[word]}`).join(' ')}`,
    schema: { type: 'string' },
    example: 'header_overflow',
  },
  'Server-Timing': {
    description:
      'The duration of each phase in milliseconds: `admit`, `queue`, `load`, `wait`, `print`, `post`, `settle`, and `other` for the rest. They add up to the total in the dashboard. `isolation` says whether a sealed page of the account could be used (`warm`) or not (`fresh`). Also sent with an error if the render had started.',
    schema: { type: 'string' },
    example:
      'admit;dur=1.2, queue;dur=0.1, load;dur=38.4, wait;dur=2.0, print;dur=21.7, settle;dur=1.4, other;dur=0.8, isolation;desc="warm"',
  },
  'Content-Disposition': {
    description: 'Browsers display the PDF and use this file name to save it.',
    schema: { type: 'string' },
    example: 'inline; filename="render.pdf"',
  },
  Location: {
    description: 'The URL of the new asynchronous render.',
    schema: { type: 'string', format: 'uri' },
    example: 'https://pdf.example.com/v1/renders/rnd_019a8c5e7d2b7c449e1f3b6a52c8d011',
  },
  'WWW-Authenticate': {
    description: 'The required authentication scheme.',
    schema: { type: 'string' },
    example: 'Bearer',
  },
  'Retry-After': {
    description: 'Seconds to wait before trying again.',
    schema: { type: 'integer', minimum: 1 },
    example: 2,
  },
  'X-Concurrency-Limit': {
    description: "Your plan's concurrency limit.",
    schema: { type: 'integer', minimum: 1 },
    example: 2,
  },
} as const satisfies Record<string, HeaderDefinition>;
export type HeaderName = keyof typeof HEADERS;

/** Headers of every PDF response. */
export const PDF_HEADERS = [
  'X-Request-Id',
  'X-Usage-Count',
  'X-Sandbox',
  'X-Pdf-Pages',
  'X-Resource-Errors',
  'X-Warnings',
  'Server-Timing',
  'Content-Disposition',
] as const satisfies HeaderName[];

/** Headers of every response with the PDF of an asynchronous render. */
export const STORED_PDF_HEADERS = [
  'X-Request-Id',
  'X-Sandbox',
  'X-Pdf-Pages',
  'Content-Disposition',
] as const satisfies HeaderName[];

/** Headers of every PDF response of a trial render. */
export const TRIAL_PDF_HEADERS = [
  'X-Request-Id',
  'X-Sandbox',
  'Content-Disposition',
] as const satisfies HeaderName[];

/** When an error occurs, with an example. */
export interface ErrorCase {
  code: ErrorCode;
  when: string;
  message: string;
  reason?: RenderFailedReason;
  headers?: readonly HeaderName[];
}

/** `scopes`: those of which a key needs one. */
export const unauthorizedCase = (scopes: string): ErrorCase => ({
  code: 'unauthorized',
  when: `The API key is missing, malformed, unknown, expired or revoked, does not have the scope ${scopes}, or is not allowed from your IP address.`,
  message: 'The `Authorization` header is missing. Send `Authorization: Bearer <API key>`.',
  headers: ['WWW-Authenticate'],
});

/** The errors of POST /v1/render in the order of their checks. */
export const renderErrorCases = (dashboardUrl: string): ErrorCase[] => [
  unauthorizedCase('`render`'),
  {
    code: 'subscription_inactive',
    when: 'The subscription is canceled, unpaid or suspended.',
    message: `Your account is suspended. Contact your administrator, or see ${dashboardUrl}.`,
  },
  {
    code: 'payload_too_large',
    when: 'The body is larger than this installation allows (10 MiB by default).',
    message:
      'The request body is larger than 10485760 bytes. Send less HTML, or load images from a URL.',
  },
  {
    code: 'validation_error',
    when: 'The body is not valid JSON, or a field is unknown, invalid or conflicts with another. The message names up to five fields.',
    message: '`printBackground` is not a valid field. Did you mean `print_background`?',
  },
  {
    code: 'ssrf_blocked',
    when: '`url`, `css` or `javascript`, or a redirect of one of them, points to an address that is not public.',
    message:
      '`url` points to an address that is not public. Use a public URL, or send the document as `html`.',
  },
  {
    code: 'concurrency_limit',
    when: "Your account has reached its plan's concurrency limit, or its fair share of a busy service. Renders over the limit are rejected immediately, never queued.",
    message:
      'Concurrency limit reached: your plan allows 2 concurrent renders. Try again when a render has finished.',
    headers: ['Retry-After', 'X-Concurrency-Limit'],
  },
  {
    code: 'render_failed',
    when: 'The page could not be rendered, or the service is temporarily unable to render. See `reason`.',
    message: 'The page returned 404. Set `raise_for_status` to false to print error pages.',
    reason: 'page_status',
    headers: ['Retry-After'],
  },
];

export const DATABASE_UNAVAILABLE: ErrorCase = {
  code: 'unavailable',
  when: 'The database is temporarily unavailable.',
  message: 'The service cannot reach its database. Try again in a few seconds.',
  headers: ['Retry-After'],
};
/** The last errors of every route for keys that does not render. */
export const READ_FAILURES: ErrorCase[] = [
  {
    code: 'concurrency_limit',
    when: 'Your account has too many requests in progress.',
    message:
      "Your account has 12 requests in progress. Your plan's concurrency limit is 4. Try again when a request has finished.",
    headers: ['Retry-After', 'X-Concurrency-Limit'],
  },
  DATABASE_UNAVAILABLE,
];

const NEEDS_ACCOUNT: ReadonlySet<ErrorCode> = new Set([
  'unauthorized',
  'subscription_inactive',
  'concurrency_limit',
]);

/** The errors of POST /v1/trial/render. */
export const trialErrorCases: ErrorCase[] = [
  ...renderErrorCases('').filter(({ code }) => !NEEDS_ACCOUNT.has(code)),
  {
    code: 'rate_limited',
    when: 'Your IP address (for IPv6: its /64 network) has reached the limit of trial renders per minute, or all trial slots are in use.',
    message:
      'Trial limit reached: 5 renders per minute per IP address. Try again in a minute, or use an API key.',
    headers: ['Retry-After'],
  },
];
