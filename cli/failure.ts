// How a command fails: one sentence on stderr and an exit code. 0 done, 1 it did not work, 2 it was
// asked wrongly.

export const EXIT_CODES =
  'Exit codes: 0 done; 1 it did not work (one sentence says why); 2 the command was written wrongly.';

/** Its message is shown to the person as it is. */
export class CliError extends Error {
  override name = 'CliError';
  readonly exitCode: 1 | 2;

  constructor(message: string, exitCode: 1 | 2 = 1, cause?: unknown) {
    super(message, { cause });
    this.exitCode = exitCode;
  }
}

/** For what the person wrote: exit code 2. */
export const wrongUsage = (message: string) => new CliError(message, 2);
