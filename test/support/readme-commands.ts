// The commands of the README, which tests run as they stand there.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const README = fileURLToPath(new URL('../../README.md', import.meta.url));

/** Each command of its `sh` blocks, continuation lines joined. */
export const readmeCommands: readonly string[] = [
  ...readFileSync(README, 'utf8').matchAll(/^```sh\n([\s\S]*?)^```$/gm),
].flatMap(([, block]) =>
  block!
    .replace(/\\\n\s*/g, '')
    .trim()
    .split('\n'),
);

/** The one that begins so. */
export function readmeCommand(start: string): string {
  const found = readmeCommands.filter(command => command.startsWith(start));
  if (found.length !== 1) throw new Error(`README.md has ${found.length} commands "${start}"`);
  return found[0]!;
}
