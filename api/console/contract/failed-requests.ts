// Schemas for the requests of a page that failed, in the details of a render.
import { z } from 'zod';
import { RESOURCE_REASONS } from '../../../common/contract/resource-errors.ts';
import { count } from './common.ts';

export const resourceReason = z.enum(RESOURCE_REASONS);

export const failedRequest = z.object({
  method: z.string(),
  url: z.string(),
  type: z.string(),
  status: z.int().nullable(),
  reason: resourceReason.nullable(),
  ms: z.number(),
});
/** The requests of a page that failed. */
export const failedRequests = {
  resourceErrors: count.meta({ description: 'Requests of the page that failed or were blocked.' }),
  resources: z
    .array(failedRequest)
    .meta({ description: 'The first 100 of them, with the HTTP status or the reason.' }),
};
