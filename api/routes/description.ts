// /openapi.json and /docs: the OpenAPI document and the API reference, generated once.

import { type Described, openApi } from '../../common/contract/openapi.ts';
import { DOCS_CACHE, docsAnswer } from '../docs/answer.ts';
import { docsPage } from '../docs/reference.ts';
import { docsScriptSource } from '../docs/try.ts';
import type { Middleware } from '../http/state.ts';

/** Of the form that renders and shows the PDF. */
const TRY_IT = [
  `script-src ${docsScriptSource}`,
  "connect-src 'self'",
  'frame-src blob:',
  'object-src blob:',
];

export function description(described: Described): { openApiJson: Middleware; docs: Middleware } {
  const document = openApi(described);
  const json = JSON.stringify(document);
  return {
    openApiJson: ctx => {
      ctx.type = 'application/json';
      ctx.set('Cache-Control', DOCS_CACHE);
      ctx.body = json;
    },
    docs: docsAnswer(docsPage(document), TRY_IT),
  };
}
