// How the pages below /docs are sent: cacheable, and with a policy that lets them load nothing.

import type { Middleware } from '../http/state.ts';
import { docsStyleSource } from './style.ts';

export const DOCS_CACHE = 'public, max-age=300';

/** `more` are directives of the Content-Security-Policy for what the page does. */
export const docsAnswer =
  (page: string, more: readonly string[] = []): Middleware =>
  ctx => {
    ctx.type = 'text/html';
    ctx.set('Cache-Control', DOCS_CACHE);
    const policy = [
      "default-src 'none'",
      `style-src ${docsStyleSource}`,
      ...more,
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ];
    ctx.set('Content-Security-Policy', policy.join('; '));
    ctx.set('Referrer-Policy', 'no-referrer');
    ctx.body = page;
  };
