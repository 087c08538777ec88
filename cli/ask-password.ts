// Asks for a new password on the terminal, without showing it, and once more against mistypings.
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { wrongUsage } from './failure.ts';

/** Throws CliError when there is no terminal to ask on, or the two differ. */
export async function askPassword(): Promise<string> {
  if (!process.stdin.isTTY)
    throw wrongUsage(
      'There is no terminal to ask for the password on: give --password-file, or --password-stdin and write it to standard input.',
    );
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output: silent, terminal: true });
  // Ctrl-C ends the command as it does anywhere else.
  lines.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
  try {
    const ask = async (question: string) => {
      process.stderr.write(question);
      const typed = await lines.question('');
      process.stderr.write('\n');
      return typed;
    };
    const password = await ask('Password (at least 12 characters): ');
    if ((await ask('The same again: ')) !== password) throw wrongUsage('The two are not the same.');
    return password;
  } finally {
    lines.close();
  }
}
