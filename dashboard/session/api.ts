// HTTP client of the management API: error envelope, and the redirect to sign-in on 401.

export class CallFailed extends Error {
  override name = 'CallFailed';
  readonly status: number;
  readonly code: string;
  readonly requestId: string | undefined;
  /** Set only with `render_failed`. */
  readonly reason: string | undefined;

  constructor(status: number, code: string, message: string, requestId?: string, reason?: string) {
    super(message);
    this.status = status;
    this.code = code;
    this.requestId = requestId;
    this.reason = reason;
  }
}

const signInAgain = () =>
  location.assign(`/app/sign-in?next=${encodeURIComponent(location.pathname + location.search)}`);

let signingOut = false;

/**
 * Ends the session. Until then a 401 does not redirect to sign-in: its `next` parameter would send
 * the next user to this user's screen.
 */
export async function endSession(): Promise<void> {
  signingOut = true;
  try {
    await post('/me/sign-out');
  } catch (error) {
    // The session has already ended.
    if (error instanceof CallFailed && error.status === 401) return;
    signingOut = false;
    throw error;
  }
}

/**
 * Returns the response of a successful call. Throws CallFailed with the server's message; redirects
 * to sign-in on 401.
 */
export async function send(
  method: string,
  path: string,
  body?: unknown,
  signal?: AbortSignal,
): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(`/console/v1${path}`, {
      method,
      ...(body !== undefined && {
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
      }),
      ...(signal && { signal }),
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new CallFailed(
      0,
      'unreachable',
      'Could not reach the server. Check your connection and try again.',
    );
  }
  if (response.ok) return response;
  if (response.status === 401 && !signingOut) signInAgain();
  const { error } = (await response.json().catch(() => ({}))) as {
    error?: { code: string; message: string; request_id: string; reason?: string };
  };
  throw new CallFailed(
    response.status,
    error?.code ?? 'internal',
    error?.message ?? `The server returned status ${response.status}.`,
    error?.request_id,
    error?.reason,
  );
}

const json = async <T>(response: Response): Promise<T> =>
  (response.status === 204 ? undefined : await response.json()) as T;

export const get = async <T>(path: string, signal?: AbortSignal) =>
  json<T>(await send('GET', path, undefined, signal));
export const post = async <T>(path: string, body: unknown = {}) =>
  json<T>(await send('POST', path, body));
export const patch = async <T>(path: string, body: unknown) =>
  json<T>(await send('PATCH', path, body));
export const remove = async <T = void>(path: string, body?: unknown) =>
  json<T>(await send('DELETE', path, body));

/** `?a=1&b=2` from the defined, non-empty values; an empty string without any. */
export function queryOf(values: Record<string, string | number | undefined>): string {
  const entries = Object.entries(values).flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [[name, String(value)] as [string, string]],
  );
  return entries.length > 0 ? `?${new URLSearchParams(entries)}` : '';
}
