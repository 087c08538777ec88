// A hint how to fix each error: by reason, or by code for errors without a reason.
import type { RenderSummary } from '../../api/console/contract/accounts.ts';

const BY_REASON: Record<NonNullable<RenderSummary['reason']>, string> = {
  page_status:
    'The page or a resource did not load. Check the URLs, or set `raise_for_status` or `fail_on_resource_error` to false.',
  page_unreachable:
    'Pressroom could not connect to the page. Check the host name and port, and that the page is public.',
  page_timeout: 'Check the condition named in the message, or increase `timeout`.',
  page_crash:
    'The page ran out of memory or crashed Chrome. Use fewer or smaller images, or split the document.',
  output_limit:
    'The render exceeded a limit. Use fewer or smaller images, split the document, or print on several pages.',
  no_worker:
    'No worker was available in time. Send fewer renders at once, or ask your administrator to add workers.',
  queue_full: 'The queue was full. Try again after the time in the `Retry-After` header.',
  overloaded: 'Pressroom was overloaded. Try again after the time in the `Retry-After` header.',
  database:
    'The database was unavailable. Try again; if it happens again, contact your administrator.',
  worker_lost: 'The connection to the worker was lost during the render. Try again.',
  internal:
    'An internal error occurred. Try again; if it happens again, send your administrator the request ID.',
};

const BY_CODE: Record<string, string> = {
  validation_error: 'The request is invalid. The message names the field and the accepted values.',
  payload_too_large:
    'The request body is too large. Load images by URL instead of embedding them in the HTML.',
  subscription_inactive:
    'The subscription is unpaid, canceled or suspended. See Plan & billing for details.',
  ssrf_blocked:
    'The URL or a redirect points to a private address. Only public addresses are allowed.',
  concurrency_limit:
    'The account reached its concurrency limit. Wait for a render to finish, or upgrade the plan.',
  rate_limited: 'Too many requests. Try again after the time in the `Retry-After` header.',
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
