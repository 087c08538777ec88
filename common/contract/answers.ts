// What callers get back: the error envelope, the headers, and when each error is given. The
// descriptions and examples of the API stand here.
import { z } from 'zod';
import {
  type ErrorCode,
  RENDER_FAILED_REASONS,
  type RenderFailedReason,
  STATUS,
} from './errors.ts';

export const EXAMPLE_REQUEST_ID = '019a8c5e-7d2b-7c44-9e1f-3b6a52c8d011';

/** The body of every answer that is an error. Later releases may add members. */
export const errorEnvelopeSchema = z
  .object({
    error: z.object({
      code: z
        .enum(Object.keys(STATUS) as [ErrorCode, ...ErrorCode[]])
        .meta({ description: 'What went wrong, from a closed list.' }),
      message: z.string().meta({
        description:
          'A sentence for people: what is wrong and how to mend it. It may change; do not parse it.',
      }),
      request_id: z.uuid().meta({
        description: 'The same as the header `X-Request-Id`.',
        examples: [EXAMPLE_REQUEST_ID],
      }),
      reason: z
        .enum(RENDER_FAILED_REASONS)
        .meta({
          description:
            'Only with `render_failed`: why. `page_status`, `page_unreachable`, `page_timeout`, `page_crash` and `output_limit` are the page’s fault; after the others the same request may succeed when it is sent again.',
        })
        .optional(),
    }),
  })
  .meta({ description: 'Every answer that is an error has this body.' });
export type ErrorEnvelope = z.output<typeof errorEnvelopeSchema>;

export const healthSchema = z
  .object({ status: z.literal('ok') })
  .meta({ description: 'The process can answer.' });

export const readinessSchema = z
  .object({
    status: z.enum(['ready', 'unavailable']),
    checks: z.object({
      database: z
        .object({ status: z.enum(['ok', 'unavailable']) })
        .meta({ description: 'Whether the database answered in time.' }),
      workers: z
        .object({
          ready: z.int().min(0).meta({ description: 'Slots that are free now.' }),
          slots: z
            .int()
            .min(0)
            .meta({ description: 'Renders that all connected workers take at once.' }),
        })
        .meta({ description: 'The rendering workers.' }),
    }),
  })
  .meta({ description: 'Whether what rendering depends on is there.' });

interface Header {
  description: string;
  schema: { type: 'string' | 'integer'; format?: string; minimum?: number; const?: string };
  example: string | number;
}

export const HEADERS = {
  'X-Request-Id': {
    description: 'The id of this call, a UUID. Name it when you ask about the call.',
    schema: { type: 'string', format: 'uuid' },
    example: EXAMPLE_REQUEST_ID,
  },
  'X-Usage-Count': {
    description:
      'The account’s renders in the current billing period, this one included. Absent on a sandbox render, and when the database did not tell the count in time.',
    schema: { type: 'integer', minimum: 1 },
    example: 1284,
  },
  'X-Sandbox': {
    description: '`true` on a sandbox render, which has a watermark and is not counted.',
    schema: { type: 'string', const: 'true' },
    example: 'true',
  },
  'X-Pdf-Pages': {
    description: 'How many pages the PDF has.',
    schema: { type: 'integer', minimum: 1 },
    example: 3,
  },
  'Server-Timing': {
    description:
      'Where the time went, in milliseconds: `admit`, `queue`, `load`, `wait`, `print`, `post`, `settle`.',
    schema: { type: 'string' },
    example:
      'admit;dur=1.2, queue;dur=0.1, load;dur=38.4, wait;dur=2.0, print;dur=21.7, settle;dur=1.4',
  },
  'Content-Disposition': {
    description: 'Browsers show the PDF, and save it under this name.',
    schema: { type: 'string' },
    example: 'inline; filename="render.pdf"',
  },
  'WWW-Authenticate': {
    description: 'How to authenticate.',
    schema: { type: 'string' },
    example: 'Bearer',
  },
  'Retry-After': {
    description: 'Seconds after which to try again.',
    schema: { type: 'integer', minimum: 1 },
    example: 2,
  },
  'X-Concurrency-Limit': {
    description: 'How many renders the plan runs at once.',
    schema: { type: 'integer', minimum: 1 },
    example: 2,
  },
} as const satisfies Record<string, Header>;
export type HeaderName = keyof typeof HEADERS;

/** On every PDF. */
export const PDF_HEADERS = [
  'X-Request-Id',
  'X-Usage-Count',
  'X-Sandbox',
  'X-Pdf-Pages',
  'Server-Timing',
  'Content-Disposition',
] as const satisfies HeaderName[];

/** On every PDF of a trial call. */
export const TRIAL_PDF_HEADERS = [
  'X-Request-Id',
  'X-Sandbox',
  'Content-Disposition',
] as const satisfies HeaderName[];

/** When a code is given, with an answer as it looks. */
export interface Refusal {
  code: ErrorCode;
  when: string;
  message: string;
  reason?: RenderFailedReason;
  headers?: readonly HeaderName[];
}

/**
 * The errors of POST /v1/render, in the order in which they are looked for. `dashboardUrl` is where
 * people mend their subscription.
 */
export const renderRefusals = (dashboardUrl: string): Refusal[] => [
  {
    code: 'unauthorized',
    when: 'The API key is missing, malformed, unknown, expired or revoked, or not allowed from this address.',
    message: 'The API key is missing or invalid. Send it as `Authorization: Bearer <API key>`.',
    headers: ['WWW-Authenticate'],
  },
  {
    code: 'subscription_inactive',
    when: 'The subscription is canceled, unpaid or suspended.',
    message: `Your subscription is unpaid. Update your payment method at ${dashboardUrl}, then retry.`,
  },
  {
    code: 'payload_too_large',
    when: 'The body is larger than the operator allows (10 MiB by default).',
    message:
      'The request body is larger than 10485760 bytes. Send less html, or let the page load its images from a URL.',
  },
  {
    code: 'validation_error',
    when: 'The body is not JSON, or a field is unknown, wrong or in conflict with another. The message names up to five of them.',
    message: '`printBackground` is not a field; did you mean `print_background`?',
  },
  {
    code: 'ssrf_blocked',
    when: '`url`, `css` or `javascript`, or a redirect of one of them, leads to an address that is not public.',
    message:
      '`url` leads to an address that is not public. Give a public address, or send the document as `html`.',
  },
  {
    code: 'concurrency_limit',
    when: 'The account runs as many renders as its plan allows, or uses as much of a service that is busy as one account may. Calls over the limit are refused at once, never queued.',
    message:
      'Concurrency limit reached: your plan allows 2 concurrent renders. Retry when a render has finished.',
    headers: ['Retry-After', 'X-Concurrency-Limit'],
  },
  {
    code: 'render_failed',
    when: 'The page could not be rendered: its status, address, time, size or a crash; or the service could not do it now. The member `reason` tells which.',
    message: 'The page returned 404. Set raise_for_status to false to print error pages.',
    reason: 'page_status',
    headers: ['Retry-After'],
  },
];

const NEEDS_ACCOUNT: ReadonlySet<ErrorCode> = new Set([
  'unauthorized',
  'subscription_inactive',
  'concurrency_limit',
]);

/**
 * The errors of POST /v1/trial/render. A caller who is over a limit that the process remembers is
 * refused before the body is read.
 */
export const trialRefusals: Refusal[] = [
  ...renderRefusals('').filter(({ code }) => !NEEDS_ACCOUNT.has(code)),
  {
    code: 'rate_limited',
    when: 'The address (of IPv6: its /64) has used up its trial calls of the last minute, or the service runs as many trial renders as it allows at once.',
    message:
      'Trial limit reached: 5 renders per minute per IP address. Retry in a minute, or use an API key.',
    headers: ['Retry-After'],
  },
];
