// Prompts for a new password on the terminal, twice and without echo.
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { wrongUsage } from './failure.ts';

/** Throws CliError when there is no terminal or the two passwords differ. */
export async function askPassword(): Promise<string> {
  if (!process.stdin.isTTY)
    throw wrongUsage(
      'Cannot prompt for the password without a terminal. Use --password-file or --password-stdin.',
    );
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output: silent, terminal: true });
  // readline handles Ctrl-C itself; pass it on so that it ends the command.
  lines.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
  try {
    const ask = async (question: string) => {
      process.stderr.write(question);
      const typed = await lines.question('');
      process.stderr.write('\n');
      return typed;
    };
    const password = await ask('Password (at least 12 characters): ');
    if ((await ask('Repeat the password: ')) !== password)
      throw wrongUsage('The passwords do not match.');
    return password;
  } finally {
    lines.close();
  }
}
