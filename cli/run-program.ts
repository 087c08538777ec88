// Runs the command line: help, exit codes and one line for an error.
import { type Command, CommanderError } from 'commander';
import { ConfigError } from '../common/config.ts';
import { ApiError } from '../common/contract/errors.ts';
import { CliError, EXIT_CODES } from './failure.ts';

export const printNotice = (line: string): void => void process.stderr.write(`${line}\n`);

/** Applies `act` to a command and all its subcommands; commander has no inherited settings. */
function everywhere(command: Command, act: (each: Command) => void): void {
  act(command);
  for (const child of command.commands) everywhere(child, act);
}

/** Reads the command line of this process and sets its exit code. */
export async function runProgram(program: Command): Promise<void> {
  // The reader has what it needs, as in `pressroom render --help | head -1`.
  process.stdout.on('error', error => {
    if ((error as NodeJS.ErrnoException).code !== 'EPIPE') throw error;
    process.exit(1);
  });
  everywhere(program, each => {
    each.exitOverride().showSuggestionAfterError().showHelpAfterError('Run with --help for usage.');
    if (each !== program && each.commands.length === 0)
      each.addHelpText('after', `\n${EXIT_CODES}`);
  });
  try {
    await program.parseAsync();
  } catch (error) {
    if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : 2;
    else {
      const expected =
        error instanceof CliError || error instanceof ApiError || error instanceof ConfigError;
      printNotice(
        expected || !process.env.PRESSROOM_LOG_LEVEL
          ? (error as Error).message
          : String((error as Error).stack),
      );
      process.exitCode =
        error instanceof CliError ? error.exitCode : error instanceof ConfigError ? 2 : 1;
    }
  }
}
