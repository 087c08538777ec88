// Checks that a test named in a table exists.
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const inTests = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url));

const literal = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** Whether the file contains the title as a string literal. `…` stands for a placeholder. */
function holds(source: string, title: string): boolean {
  const pattern = title.split('…').map(literal).join('(?:…|\\$\\{.+?\\})');
  return new RegExp(`(['"\`])${pattern}\\1`).test(source.replaceAll("\\'", "'"));
}

export const proofExists = (file: string, title: string) =>
  existsSync(inTests(file)) && holds(readFileSync(inTests(file), 'utf8'), title);
