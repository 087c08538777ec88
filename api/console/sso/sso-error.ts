// The error of single sign-on: a message for the user, and for the log what an operator must fix.

/** `status` is that of the page. Message and details never contain a code, a token or a secret. */
export class SsoError extends Error {
  override name = 'SsoError';
  readonly status: number;
  /** For the log: the problem and its fix. Absent for what only the user can fix. */
  readonly details: Record<string, string> | undefined;

  constructor(status: number, message: string, details?: Record<string, string>) {
    super(message);
    this.status = status;
    this.details = details;
  }
}

export const beginAgain = () =>
  new SsoError(
    400,
    'This sign-in expired, was already completed, or was started in another browser. Sign in again.',
  );
