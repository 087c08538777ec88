// What the render log says about a request of the page that failed.

/**
 * Why there was no response. `blocked`: by the egress guard or by the browser (CORS, CSP, mixed
 * content). `too_large`: a network limit of a render. `failed`: any other network error, such as an
 * invalid certificate.
 */
export const RESOURCE_REASONS = [
  'blocked',
  'unresolved',
  'refused',
  'timeout',
  'too_large',
  'failed',
] as const;
export type ResourceReason = (typeof RESOURCE_REASONS)[number];

export interface ResourceError {
  method: string;
  /** Without user, query and fragment; of `data:` and `blob:` the scheme and the length. */
  url: string;
  /** Chrome's resource type in lower case, such as `image`. */
  type: string;
  /** The HTTP status, or the reason why there was none. */
  status?: number;
  reason?: ResourceReason;
  ms: number;
}

/** The resources that `fail_on_resource_error` covers. */
export const FAILING_TYPES: ReadonlySet<string> = new Set([
  'stylesheet',
  'image',
  'font',
  'script',
]);
