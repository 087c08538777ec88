// The closed list of error codes and the error class of the API. api/http/errors.ts maps them to
// responses. The codes are also metric labels.

/** The HTTP status of each code. */
export const STATUS = {
  validation_error: 400,
  payload_too_large: 400,
  unauthorized: 401,
  subscription_inactive: 403,
  ssrf_blocked: 422,
  concurrency_limit: 429,
  rate_limited: 429,
  render_failed: 502,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  gone: 410,
  internal: 500,
  unavailable: 503,
} as const;
export type ErrorCode = keyof typeof STATUS;

/**
 * The codes of rejected requests: the caller can fix these, and they are not failed renders. All
 * figures about renders use this distinction.
 */
export const REJECTION_CODES = (Object.keys(STATUS) as ErrorCode[]).filter(
  code => STATUS[code] < 500,
);
export const isRejection = (code: string | null | undefined): boolean =>
  (REJECTION_CODES as readonly (string | null | undefined)[]).includes(code);

/**
 * Why a render failed. The first five are caused by the page, the others by the service; only these
 * count against the service's objective.
 */
export const RENDER_FAILED_REASONS = [
  'page_status',
  'page_unreachable',
  'page_timeout',
  'page_crash',
  'output_limit',
  'no_worker',
  'queue_full',
  'overloaded',
  'database',
  'worker_lost',
  'internal',
] as const;
export type RenderFailedReason = (typeof RENDER_FAILED_REASONS)[number];

interface Extras {
  /** The cause, for the log only. */
  cause?: unknown;
  retryAfterS?: number;
  headers?: Record<string, string>;
  reason?: RenderFailedReason;
}

/** An error response. `message` is for humans: what is wrong, and how to fix it. */
export class ApiError extends Error {
  override name = 'ApiError';
  readonly code: ErrorCode;
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly reason: RenderFailedReason | undefined;

  constructor(
    code: ErrorCode,
    message: string,
    { cause, retryAfterS, headers = {}, reason }: Extras = {},
  ) {
    super(message, { cause });
    this.code = code;
    this.status = STATUS[code];
    this.headers =
      retryAfterS === undefined ? headers : { ...headers, 'Retry-After': String(retryAfterS) };
    this.reason = reason;
  }
}

export const invalid = (message: string, cause?: unknown) =>
  new ApiError('validation_error', message, { cause });

export const renderFailed = (
  reason: RenderFailedReason,
  message: string,
  extras: Omit<Extras, 'reason'> = {},
) => new ApiError('render_failed', message, { ...extras, reason });
