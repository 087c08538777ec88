// Schemas of the management API for asynchronous renders: those of the public API, with the key.
import { z } from 'zod';
import { asyncRenderSchema } from '../../../common/contract/async-renders.ts';
import { renderKey } from './accounts.ts';
import { cursorQuery, page } from './common.ts';

export const asyncRenderView = asyncRenderSchema.extend({
  /** The API key that submitted it. */
  key: renderKey,
});
export type AsyncRenderView = z.output<typeof asyncRenderView>;
export const asyncRenderViews = page(asyncRenderView);
export type AsyncRenderViews = z.output<typeof asyncRenderViews>;
export const asyncRenderViewQuery = z.object({
  ...cursorQuery,
  status: asyncRenderSchema.shape.status.optional(),
  batch: z.string().max(40).optional().meta({ description: 'ID of a batch.' }),
});
