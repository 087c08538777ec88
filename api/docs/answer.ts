// How the pages under /docs are sent: cacheable, and with a policy under which they load nothing
// but the search index.
import type { Middleware } from '../http/state.ts';
import { hashSource, PAGE_SCRIPT, STYLE, THEME_SCRIPT, TRY_SCRIPT } from './assets.ts';

export const DOCS_CACHE = 'public, max-age=300';

const POLICY = [
  "default-src 'none'",
  `style-src ${hashSource(STYLE)}`,
  `script-src ${[THEME_SCRIPT, PAGE_SCRIPT, TRY_SCRIPT].map(hashSource).join(' ')}`,
  // The search index, and renders from the form.
  "connect-src 'self'",
  // The preview of the PDF.
  'frame-src blob:',
  'object-src blob:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

export const docsAnswer =
  (page: string): Middleware =>
  ctx => {
    ctx.type = 'text/html';
    ctx.set('Cache-Control', DOCS_CACHE);
    ctx.set('Content-Security-Policy', POLICY);
    ctx.set('Referrer-Policy', 'no-referrer');
    ctx.body = page;
  };

/** `text` is a JSON document. */
export const jsonAnswer =
  (text: string): Middleware =>
  ctx => {
    ctx.type = 'application/json';
    ctx.set('Cache-Control', DOCS_CACHE);
    ctx.body = text;
  };
