// Whether a test that a table names exists.
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Proof } from '../../tools/limits/limit-row.ts';

export const inTests = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url));

const literal = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** A title or a row's name stands in its file as a whole text; `…` is what a template puts in. */
function holds(source: string, title: string): boolean {
  const pattern = title.split('…').map(literal).join('(?:…|\\$\\{.+?\\})');
  return new RegExp(`(['"\`])${pattern}\\1`).test(source.replaceAll("\\'", "'"));
}

export const proofExists = ({ file, title }: Proof) =>
  existsSync(inTests(file)) && holds(readFileSync(inTests(file), 'utf8'), title);
