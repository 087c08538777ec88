// The commands of the README and of other pages, which tests run as they stand there.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const ROOT = new URL('../../', import.meta.url);

/** Each command of the `sh` blocks of a page, continuation lines joined. */
export const commandsOf = (page: string): string[] =>
  [
    ...readFileSync(fileURLToPath(new URL(page, ROOT)), 'utf8').matchAll(
      /^```sh\n([\s\S]*?)^```$/gm,
    ),
  ].flatMap(([, block]) =>
    block!
      .replace(/\\\n\s*/g, '')
      .trim()
      .split('\n'),
  );

export const readmeCommands: readonly string[] = commandsOf('README.md');

/** The command of a page that begins so. */
export function commandOf(page: string, start: string): string {
  const found = commandsOf(page).filter(command => command.startsWith(start));
  if (found.length !== 1) throw new Error(`${page} has ${found.length} commands "${start}"`);
  return found[0]!;
}

export const readmeCommand = (start: string): string => commandOf('README.md', start);
