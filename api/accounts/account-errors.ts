// Errors about accounts and keys that several routes return.
import { ApiError, renderFailed } from '../../common/contract/errors.ts';
import {
  type AccountState,
  isDatabaseUnavailable,
  type KeyScope,
  NoPrimary,
} from '../store/store.ts';
import type { BillingMode } from './plans.ts';

/**
 * The default is the same for an unknown, expired or revoked key and for a disallowed address, so
 * that a caller cannot tell these apart.
 */
export const unauthorized = (
  message = 'The API key is unknown, expired or revoked, or not allowed from your IP address. Use a key from the dashboard.',
) => new ApiError('unauthorized', message, { headers: { 'WWW-Authenticate': 'Bearer' } });

export const missingScope = (scope: KeyScope) =>
  unauthorized(
    `The API key does not have the scope \`${scope}\`. Use a key with this scope, or create one in the dashboard.`,
  );

const BEARER = 'Send `Authorization: Bearer <API key>`.';

/** For a request without a bearer token. Says nothing about any key. */
export const noBearerToken = (header: string | undefined) =>
  unauthorized(
    header === undefined
      ? `The \`Authorization\` header is missing. ${BEARER}`
      : `The \`Authorization\` header is not a Bearer token. ${BEARER}`,
  );

/** The states as users read them. */
const STATE_LABELS: Record<AccountState, string> = {
  active: 'active',
  trialing: 'trialing',
  past_due: 'past due',
  unpaid: 'unpaid',
  canceled: 'canceled',
  paused: 'suspended',
};

/** Only with Stripe, and unless an administrator suspended the account, can its owner fix the state. */
export function subscriptionInactive(
  state: AccountState,
  { billing, dashboardUrl }: { billing: BillingMode; dashboardUrl: string },
) {
  const subject = state === 'paused' ? 'account' : 'subscription';
  return new ApiError(
    'subscription_inactive',
    billing === 'stripe' && state !== 'paused'
      ? `Your subscription is ${STATE_LABELS[state]}. Update your payment method at ${dashboardUrl}, then try again.`
      : `Your ${subject} is ${STATE_LABELS[state]}. Contact your administrator, or see ${dashboardUrl}.`,
  );
}

/** All leases of the account are in use. */
export const concurrencyLimit = (limit: number, retryAfterS: number) =>
  new ApiError(
    'concurrency_limit',
    `Concurrency limit reached: your plan allows ${limit} concurrent ${limit === 1 ? 'render' : 'renders'}. Try again when a render has finished.`,
    {
      retryAfterS,
      headers: { 'X-Concurrency-Limit': String(limit) },
    },
  );

/** The account has this many requests in progress in this process. */
export const tooManyRequests = (requests: number, parallel: number) =>
  new ApiError(
    'concurrency_limit',
    `Your account has ${requests} requests in progress. Your plan's concurrency limit is ${parallel}. Try again when a request has finished.`,
    { retryAfterS: 2, headers: { 'X-Concurrency-Limit': String(parallel) } },
  );

/**
 * The account is over its fair share of a resource of this process. `parallel`: the concurrency
 * limit of its plan, where it is known.
 */
export const overShare = (parallel?: number) =>
  new ApiError(
    'concurrency_limit',
    'The service is busy and your account is using its full share. Try again when one of your requests has finished.',
    {
      retryAfterS: 2,
      headers: parallel === undefined ? {} : { 'X-Concurrency-Limit': String(parallel) },
    },
  );

const UNREACHABLE = 'The service cannot reach its database. Try again in a few seconds.';

/**
 * For renders. During an outage the error has no cause: the store logs the outage once, and a line
 * per request would hide that.
 */
export const databaseUnreachable = (cause: unknown) =>
  renderFailed('database', UNREACHABLE, {
    retryAfterS: 1,
    ...(!(cause instanceof NoPrimary) && { cause }),
  });

/**
 * For requests that are not renders: returns `unavailable` in place of a database failure, and any
 * other error unchanged.
 */
export const orUnavailable = (error: unknown): unknown =>
  isDatabaseUnavailable(error)
    ? new ApiError('unavailable', UNREACHABLE, { cause: error, retryAfterS: 1 })
    : error;
