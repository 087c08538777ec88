// Calls of the management API. Owns the envelope of errors, and what happens when the session is
// over.

export class CallFailed extends Error {
  override name = 'CallFailed';
  readonly status: number;
  readonly code: string;
  readonly requestId: string | undefined;
  /** Only with `render_failed`: why. */
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
 * Ends the session. Calls that are refused meanwhile do not lead to the sign-in, whose way back
 * would be to this person's screen.
 */
export async function endSession(): Promise<void> {
  signingOut = true;
  try {
    await post('/me/sign-out');
  } catch (error) {
    // It had ended already.
    if (error instanceof CallFailed && error.status === 401) return;
    signingOut = false;
    throw error;
  }
}

/**
 * The answer of a good call. Throws CallFailed with the server's sentence; goes to the sign-in when
 * the session is over.
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
      'The server does not answer. Check your connection and try again.',
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
    error?.message ?? `The server answered ${response.status}.`,
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

/** `?a=1&b=2` of what is defined, or nothing. */
export function queryOf(values: Record<string, string | number | undefined>): string {
  const entries = Object.entries(values).flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [[name, String(value)] as [string, string]],
  );
  return entries.length > 0 ? `?${new URLSearchParams(entries)}` : '';
}
