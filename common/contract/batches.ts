// The requests and responses of batches of asynchronous renders: /v1/batches.
import { z } from 'zod';
import { type ErrorCase, READ_FAILURES } from './answers.ts';
import { ASYNC_RENDER_STATUSES, submitErrorCases } from './async-renders.ts';
import { type JsonSchema, schemaRef } from './json-schema.ts';

export const MAX_BATCH_RENDERS = 1_000;
export const BATCH_TYPES = ['application/x-ndjson', 'application/json'] as const;

const count = z.int().min(0);

export const batchSchema = z
  .object({
    id: z.string().meta({ description: 'The ID of the batch. It begins with `bat_`.' }),
    created_at: z.iso
      .datetime()
      .meta({ description: 'When the renders were added to the queue, in UTC.' }),
    total: count.meta({ description: 'The number of renders.' }),
    counts: z
      .object(
        Object.fromEntries(ASYNC_RENDER_STATUSES.map(status => [status, count])) as Record<
          (typeof ASYNC_RENDER_STATUSES)[number],
          typeof count
        >,
      )
      .meta({
        description:
          'The number of renders by status. A render is removed seven days after it expires.',
      }),
    links: z
      .object({
        self: z.url().meta({ description: 'This batch.' }),
        renders: z.url().meta({ description: 'The list of its renders.' }),
      })
      .meta({ description: 'URLs. They need the API key.' }),
  })
  .meta({ description: 'Asynchronous renders that were submitted together.' });
export type Batch = z.output<typeof batchSchema>;

/** Components of the OpenAPI document. The first item may have the fields that all others share. */
export function batchRequestSchemas({ properties = {} }: JsonSchema): Record<string, JsonSchema> {
  return {
    BatchRequest: {
      type: 'array',
      description: `1 to ${MAX_BATCH_RENDERS} render requests. Before them, there may be one object with \`defaults\`.`,
      minItems: 1,
      maxItems: MAX_BATCH_RENDERS + 1,
      items: { anyOf: [schemaRef('AsyncRenderRequest'), schemaRef('BatchDefaults')] },
    },
    BatchDefaults: {
      type: 'object',
      description: 'Fields for all render requests that do not have them.',
      required: ['defaults'],
      properties: { defaults: schemaRef('RenderDefaults') },
      additionalProperties: false,
    },
    RenderDefaults: {
      type: 'object',
      description: 'Fields of a render request. None is required.',
      properties,
      additionalProperties: false,
    },
  };
}

const EXAMPLE_ID = 'bat_019a8c5e7d2b7c449e1f3b6a52c8d011';

export const EXAMPLE_BATCH: Batch = {
  id: EXAMPLE_ID,
  created_at: '2026-11-30T12:00:00.000Z',
  total: 2,
  counts: { queued: 2, running: 0, succeeded: 0, failed: 0, canceled: 0, expired: 0 },
  links: {
    self: `https://pdf.example.com/v1/batches/${EXAMPLE_ID}`,
    renders: `https://pdf.example.com/v1/renders?batch=${EXAMPLE_ID}`,
  },
};

export const EXAMPLE_FINISHED_BATCH: Batch = {
  ...EXAMPLE_BATCH,
  counts: { queued: 0, running: 0, succeeded: 2, failed: 0, canceled: 0, expired: 0 },
};

export const EXAMPLE_BATCH_ITEMS = [
  { defaults: { format: 'A4', ttl: '48h' } },
  { html: '<h1>Invoice 42</h1>', reference: 'invoice-42' },
  { html: '<h1>Invoice 43</h1>', reference: 'invoice-43' },
];

const BATCH_CASES: Partial<Record<ErrorCase['code'], Pick<ErrorCase, 'when' | 'message'>>> = {
  payload_too_large: {
    when: 'The batch is larger than this installation allows (64 MiB by default), or one render request is (10 MiB by default).',
    message: 'Line 7 is larger than 10485760 bytes.',
  },
  validation_error: {
    when: 'A render request is invalid. The message names up to 20 of them by line (of an array: by item), and nothing is queued.',
    message:
      '1 render request of the batch is invalid, so none was queued. Line 3: Send exactly one of `html` and `url`. The request has neither.',
  },
};

export const submitBatchErrorCases = (dashboardUrl: string): ErrorCase[] =>
  submitErrorCases(dashboardUrl).map(each => ({ ...each, ...BATCH_CASES[each.code] }));

export const batchErrorCases = (unauthorized: ErrorCase): ErrorCase[] => [
  unauthorized,
  {
    code: 'not_found',
    when: 'The account of the API key has no batch with this ID.',
    message: 'This account has no batch with this ID.',
  },
  ...READ_FAILURES,
];
