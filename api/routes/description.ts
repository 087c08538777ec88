// /openapi.json and /docs: the description of the API for programs and for people, made once.
import { docsPage } from '../../common/contract/docs-page.ts';
import { docsStyleSource } from '../../common/contract/docs-style.ts';
import { docsScriptSource } from '../../common/contract/docs-try.ts';
import { type Described, openApi } from '../../common/contract/openapi.ts';
import type { Middleware } from '../http/state.ts';

const CACHE = 'public, max-age=300';

export function description(described: Described): { openApiJson: Middleware; docs: Middleware } {
  const document = openApi(described);
  const json = JSON.stringify(document);
  const page = docsPage(document);
  return {
    openApiJson: ctx => {
      ctx.type = 'application/json';
      ctx.set('Cache-Control', CACHE);
      ctx.body = json;
    },
    docs: ctx => {
      ctx.type = 'text/html';
      ctx.set('Cache-Control', CACHE);
      ctx.set(
        'Content-Security-Policy',
        `default-src 'none'; style-src ${docsStyleSource}; script-src ${docsScriptSource}; connect-src 'self'; frame-src blob:; object-src blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
      );
      ctx.set('Referrer-Policy', 'no-referrer');
      ctx.body = page;
    },
  };
}
