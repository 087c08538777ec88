// Schemas for what the page reported, in the details of a render: failed requests and warnings.
import { z } from 'zod';
import { RESOURCE_REASONS } from '../../../common/contract/resource-errors.ts';
import { RENDER_WARNINGS } from '../../../common/contract/warnings.ts';
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
export const pageReport = {
  resourceErrors: count.meta({ description: 'Requests of the page that failed or were blocked.' }),
  resources: z
    .array(failedRequest)
    .meta({ description: 'The first 100 of them, with the HTTP status or the reason.' }),
  warnings: z
    .array(z.enum(RENDER_WARNINGS))
    .meta({ description: 'What may be wrong with the PDF, as in the header `X-Warnings`.' }),
};
