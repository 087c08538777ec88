// Errors of commands: a message on stderr and an exit code.

export const EXIT_CODES = 'Exit codes: 0 success; 1 error; 2 usage error.';

/** Its message is printed unchanged. */
export class CliError extends Error {
  override name = 'CliError';
  readonly exitCode: 1 | 2;

  constructor(message: string, exitCode: 1 | 2 = 1, cause?: unknown) {
    super(message, { cause });
    this.exitCode = exitCode;
  }
}

/** An error in the arguments: exit code 2. */
export const wrongUsage = (message: string) => new CliError(message, 2);
