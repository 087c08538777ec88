// The error of the company's sign-in: a sentence for the person, and for the log what whoever runs
// this installation must fix.

/** `status` is the page's. Neither message nor log says a code, a token or a secret. */
export class SsoError extends Error {
  override name = 'SsoError';
  readonly status: number;
  /** For the log: what happened, and how to fix it. Absent for what only the person can fix. */
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
    'This sign-in took too long, has been finished already, or began in another browser. Begin again.',
  );
