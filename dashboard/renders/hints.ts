// What to do about each error: a sentence for the reason, or for the code where there is none.
import type { RenderSummary } from '../../api/console/contract/accounts.ts';

const BY_REASON: Record<NonNullable<RenderSummary['reason']>, string> = {
  page_status:
    'The page answered with an error status. Open it yourself, or send `raise_for_status: false` to print it all the same.',
  page_unreachable:
    'The page could not be reached from this installation. Check its name, its port, and that it is public.',
  page_timeout:
    'A wait did not end in time. Look which one the message names, and whether the page ever fulfils it.',
  page_crash:
    'The page used up its memory, or broke the browser. Make it smaller: fewer or smaller images, fewer rows.',
  output_limit:
    'The PDF is larger than this installation gives out. Make smaller images, or split the document.',
  no_worker:
    'No worker became free in time. Send fewer renders at once, or ask who runs this installation for more workers.',
  queue_full:
    'Too many renders were waiting. Send them again a little later; the answer says when.',
  overloaded: 'This installation had too much in memory. Send the render again a little later.',
  database:
    'The database did not answer. Send the render again; tell who runs this installation when it goes on.',
  worker_lost: 'The worker was lost while it rendered. Send the render again.',
  internal:
    'The fault is ours. Send the render again; give the request id to who runs this installation when it goes on.',
};

const BY_CODE: Record<string, string> = {
  validation_error:
    'The request is not right as it is. The message names the field and what it accepts.',
  payload_too_large:
    'The body is larger than this installation takes. Load images by URL, in place of putting them into the HTML.',
  subscription_inactive: 'The subscription does not serve renders now. See plan & billing.',
  ssrf_blocked:
    'The page, or where it redirects to, is at a private address. Only public addresses are rendered.',
  concurrency_limit:
    'More renders at once than the plan allows. Wait for one to end, or choose a larger plan.',
  rate_limited: 'Too many calls in a short time. Wait as long as the answer’s `Retry-After` says.',
};

export const CODES = [
  'validation_error',
  'ssrf_blocked',
  'render_failed',
  'concurrency_limit',
  'subscription_inactive',
  'payload_too_large',
];

export const hintFor = (code: string | null, reason: string | null): string | undefined =>
  (reason === null ? undefined : BY_REASON[reason as keyof typeof BY_REASON]) ??
  (code === null ? undefined : BY_CODE[code]);
