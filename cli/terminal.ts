// What commands get from the process that runs them: its output and the accounts of the installation.
import type { Work } from './on-accounts.ts';

export interface Terminal {
  /** Writes the command's result to stdout. */
  print(text: string): void;
  /** Writes a notice to stderr. */
  notify(line: string): void;
  withAccounts<T>(work: Work<T>): Promise<T>;
}
