// Schemas of the management API for asynchronous renders: those of the public API, with the key.
import { z } from 'zod';
import { asyncRenderSchema } from '../../../common/contract/async-renders.ts';
import { renderKey } from './accounts.ts';
import { cursorQuery, page, time } from './common.ts';

export const asyncRenderView = asyncRenderSchema.extend({
  /** The API key that submitted it. */
  key: renderKey,
});
export type AsyncRenderView = z.output<typeof asyncRenderView>;

const asyncAttempt = z.object({
  started_at: time,
  ended_at: time.optional().meta({ description: 'Absent while it runs.' }),
  outcome: z.enum(['running', 'interrupted', 'succeeded', 'failed', 'canceled', 'expired']),
  error: asyncRenderSchema.shape.error
    .unwrap()
    .pick({ code: true, reason: true })
    .optional()
    .meta({ description: 'Of a failed attempt.' }),
});
export type AsyncAttempt = z.output<typeof asyncAttempt>;

/** Of one render. */
export const asyncRenderDetail = asyncRenderView.extend({
  attempt_log: z.array(asyncAttempt).meta({
    description: 'The attempts in their order. Interrupted: the process that ran it has ended.',
  }),
});
export type AsyncRenderDetail = z.output<typeof asyncRenderDetail>;

export const asyncRenderViews = page(asyncRenderView);
export type AsyncRenderViews = z.output<typeof asyncRenderViews>;
export const asyncRenderViewQuery = z.object({
  ...cursorQuery,
  status: asyncRenderSchema.shape.status.optional(),
  batch: z.string().max(40).optional().meta({ description: 'ID of a batch.' }),
});
