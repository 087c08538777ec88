// The stylesheet and the scripts of the pages under /docs. They are inline, and the
// Content-Security-Policy allows exactly these by their hashes.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

const read = (name: string) => readFileSync(new URL(name, import.meta.url), 'utf8');

export const STYLE = read('docs.css');
/** In the head: sets the color scheme before the page is painted. */
export const THEME_SCRIPT = read('theme.js');
export const PAGE_SCRIPT = read('page.js');
/** Of the form that renders, on the reference alone. */
export const TRY_SCRIPT = read('try.js');

/** A source of a Content-Security-Policy. */
export const hashSource = (text: string): string =>
  `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
