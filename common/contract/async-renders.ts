// The requests and responses of asynchronous renders: /v1/renders.
import { z } from 'zod';
import { parseDurationMs } from '../units.ts';
import {
  DATABASE_UNAVAILABLE,
  type ErrorCase,
  errorCode,
  READ_FAILURES,
  renderErrorCases,
  renderFailedReason,
  unauthorizedCase,
} from './answers.ts';
import { DURATION_PATTERN } from './durations.ts';
import { invalid } from './errors.ts';
import type { JsonSchema, SchemaNames } from './json-schema.ts';
import { kindOf, quoted } from './problems.ts';
import { EXAMPLE_REQUESTS } from './render-request.ts';

export const ASYNC_RENDER_STATUSES = [
  'queued',
  'running',
  'succeeded',
  'failed',
  'canceled',
  'expired',
] as const;
export type AsyncRenderStatus = (typeof ASYNC_RENDER_STATUSES)[number];

export const DEFAULT_TTL_MS = 24 * 3600e3;
export const MIN_TTL_MS = 60_000;
/** Shorter than the time after which proxies close a silent connection. */
export const MAX_WAIT_MS = 60_000;
export const MAX_RENDERS_LISTED = 100;

const hours = (ms: number) => (ms % 3600e3 === 0 ? `${ms / 3600e3}h` : `${ms / 60e3}m`);

/**
 * Parses `ttl` to milliseconds. `maxMs`: the limit of the installation. Throws validation_error.
 */
export function parseTtl(value: unknown, maxMs: number): number {
  if (value === undefined) return Math.min(DEFAULT_TTL_MS, maxMs);
  const ms = typeof value === 'string' ? parseDurationMs(value) : undefined;
  if (ms !== undefined && ms >= MIN_TTL_MS && ms <= maxMs) return ms;
  throw invalid(
    `\`ttl\` must be a duration from 1m to ${hours(maxMs)}, the limit of this installation, such as \`24h\`, not ${typeof value === 'string' ? quoted(value) : kindOf(value)}.`,
  );
}

/** The field of the OpenAPI document; `parseTtl` parses it. */
export const ttlSchema: JsonSchema = {
  type: 'string',
  description:
    'How long the render and its PDF are kept: a duration from `1m` to the limit of this installation (168h by default). Default: `24h`.',
  examples: ['24h', '90m'],
  pattern: DURATION_PATTERN,
};

const status = z
  .enum(ASYNC_RENDER_STATUSES)
  .meta({ description: '`queued` and `running` are unfinished. All others are final.' });

const time = (description: string) => z.iso.datetime().meta({ description });

export const asyncRenderSchema = z
  .object({
    id: z.string().meta({ description: 'The ID of the render. It begins with `rnd_`.' }),
    status,
    created_at: time('When the render was submitted, in UTC.'),
    expires_at: time('When the render expires. From then on its PDF cannot be downloaded.'),
    started_at: time('When the first attempt started. Absent before.').optional(),
    ended_at: time('When the render ended. Absent before.').optional(),
    attempts: z.int().min(0).meta({
      description: 'Attempts that began. A render is tried again after a worker or server failed.',
    }),
    sandbox: z
      .boolean()
      .meta({ description: 'The PDF has a watermark, and the render is not counted.' }),
    reference: z.string().meta({ description: 'The `reference` of the request.' }).optional(),
    batch: z
      .object({
        id: z.string().meta({ description: 'The ID of the batch.' }),
        index: z.int().min(0).meta({
          description: 'The position among the render requests of the batch, from 0.',
        }),
      })
      .meta({ description: 'The batch that the render was submitted with.' })
      .optional(),
    pages: z.int().min(1).meta({ description: 'The number of pages of the PDF.' }).optional(),
    bytes: z.int().min(1).meta({ description: 'The size of the PDF.' }).optional(),
    usage_count: z
      .int()
      .min(1)
      .meta({
        description:
          "The account's usage in the billing period, including this render. Absent for a render that was not counted.",
      })
      .optional(),
    error: z
      .object({
        code: errorCode,
        message: z.string().meta({ description: 'What is wrong and how to fix it.' }),
        reason: renderFailedReason.optional(),
      })
      .meta({ description: 'Why the render failed.' })
      .optional(),
    links: z
      .object({
        self: z.url().meta({ description: 'This render.' }),
        pdf: z.url().meta({ description: 'The PDF of a render that succeeded.' }).optional(),
      })
      .meta({ description: 'URLs. They need the API key.' }),
  })
  .meta({ description: 'An asynchronous render.' });
export type AsyncRender = z.output<typeof asyncRenderSchema>;

export const asyncRenderListSchema = z
  .object({
    items: z.array(asyncRenderSchema).meta({ description: 'The renders, newest first.' }),
    next: z.string().nullable().meta({
      description: 'The `cursor` of the next page; null on the last page.',
    }),
  })
  .meta({ description: 'A page of asynchronous renders.' });

/** The names of their parts in the OpenAPI document. */
export const ASYNC_RENDER_NAMES: SchemaNames = new Map<z.core.$ZodType, string>([
  [status, 'AsyncRenderStatus'],
  [asyncRenderSchema, 'AsyncRender'],
]);

export const asyncRenderListQuerySchema = z.object({
  status: status.optional().meta({ description: 'Only renders with this status.' }),
  batch: z.string().meta({ description: 'Only renders of the batch with this ID.' }).optional(),
  limit: z.coerce
    .number({ error: `an integer from 1 to ${MAX_RENDERS_LISTED}` })
    .int({ error: `an integer from 1 to ${MAX_RENDERS_LISTED}` })
    .min(1)
    .max(MAX_RENDERS_LISTED)
    .meta({
      description: `The largest number of items, at most ${MAX_RENDERS_LISTED}. Default: 20.`,
    })
    .optional(),
  cursor: z
    .string()
    .meta({ description: 'The unchanged `next` of an earlier response.' })
    .optional(),
});

export const asyncRenderWaitQuerySchema = z.object({
  wait: z
    .string()
    .refine(
      text => {
        const ms = parseDurationMs(text);
        return ms !== undefined && ms >= 0 && ms <= MAX_WAIT_MS;
      },
      { error: 'a duration from 0 to 60s such as `30s`' },
    )
    .meta({
      description:
        'Answer when the render has ended, or after this time, at most `60s`. By default the answer comes at once.',
      examples: ['30s'],
    })
    .optional(),
});

const EXAMPLE_ID = 'rnd_019a8c5e7d2b7c449e1f3b6a52c8d011';
const EXAMPLE_URL = `https://pdf.example.com/v1/renders/${EXAMPLE_ID}`;

export const EXAMPLE_QUEUED: AsyncRender = {
  id: EXAMPLE_ID,
  status: 'queued',
  created_at: '2026-11-30T12:00:00.000Z',
  expires_at: '2026-12-01T12:00:00.000Z',
  attempts: 0,
  sandbox: false,
  reference: 'invoice-42',
  links: { self: EXAMPLE_URL },
};

export const EXAMPLE_SUCCEEDED: AsyncRender = {
  ...EXAMPLE_QUEUED,
  status: 'succeeded',
  started_at: '2026-11-30T12:00:00.042Z',
  ended_at: '2026-11-30T12:00:00.191Z',
  attempts: 1,
  pages: 2,
  bytes: 48_213,
  usage_count: 1285,
  links: { self: EXAMPLE_URL, pdf: `${EXAMPLE_URL}/pdf` },
};

export const EXAMPLE_ASYNC_REQUESTS = {
  html: { summary: 'An HTML document', value: { ...EXAMPLE_REQUESTS.html, ttl: '48h' } },
  url: { summary: 'A public page', value: EXAMPLE_REQUESTS.url },
} as const;

const notFound: ErrorCase = {
  code: 'not_found',
  when: 'The account of the API key has no render with this ID.',
  message: 'This account has no asynchronous render with this ID.',
};
const badParameter: ErrorCase = {
  code: 'validation_error',
  when: 'A parameter is unknown or invalid.',
  message: '`wait` must be a duration from 0 to 60s such as `30s`.',
};
const queueFull: ErrorCase = {
  code: 'concurrency_limit',
  when: 'As many renders of your account wait as your plan allows, or your account has too many requests in progress.',
  message:
    'Your account has 25000 waiting renders, the maximum of your plan. Submit more when some have finished.',
  headers: ['Retry-After', 'X-Concurrency-Limit'],
};
const wrongStatus = (when: string, message: string): ErrorCase => ({
  code: 'conflict',
  when,
  message,
});

/** Those of a render, but for what happens while it runs. */
export const submitErrorCases = (dashboardUrl: string): ErrorCase[] => [
  ...renderErrorCases(dashboardUrl).filter(
    ({ code }) => code !== 'concurrency_limit' && code !== 'render_failed',
  ),
  queueFull,
  DATABASE_UNAVAILABLE,
];

export const readsUnauthorized = unauthorizedCase('`read` or `render`');
export const managesUnauthorized = unauthorizedCase('`render`');

export const listErrorCases = [readsUnauthorized, badParameter, ...READ_FAILURES];
export const getErrorCases = [readsUnauthorized, badParameter, notFound, ...READ_FAILURES];
export const cancelErrorCases = [
  managesUnauthorized,
  notFound,
  wrongStatus(
    'The render has succeeded, failed or expired.',
    'The render has already ended: it is succeeded.',
  ),
  ...READ_FAILURES,
];
export const pdfErrorCases: ErrorCase[] = [
  managesUnauthorized,
  notFound,
  wrongStatus(
    'The render has not ended, or has no PDF.',
    'The render is running. Try again when it is done.',
  ),
  {
    code: 'gone',
    when: 'The render has expired.',
    message: 'The PDF has expired and was deleted. Submit the render again.',
  },
  ...READ_FAILURES,
];
