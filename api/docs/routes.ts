// /docs with its guides, and /openapi.json. All pages are made once, when the process starts.
import { type Described, openApi } from '../../common/contract/openapi.ts';
import type { Route } from '../http/state.ts';
import { docsAnswer, jsonAnswer } from './answer.ts';
import { guidePage, readGuides } from './guides.ts';
import { referencePage } from './reference.ts';
import { runbookPage } from './runbook.ts';
import { searchIndex } from './search-index.ts';
import type { DocsSite } from './shell.ts';

export function docsRoutes({
  dashboard,
  ...described
}: Described & Pick<DocsSite, 'dashboard'>): Route[] {
  const document = openApi(described);
  const guides = readGuides(described.publicUrl, described);
  const site: DocsSite = { publicUrl: described.publicUrl, dashboard, guides };
  const get = (path: string, handle: Route['handle'][number]): Route => ({
    method: 'get',
    path,
    handle: [handle],
  });
  return [
    get('/docs', docsAnswer(referencePage(site, document))),
    ...guides.map(guide => get(guide.path, docsAnswer(guidePage(site, guide)))),
    get('/docs/runbook', docsAnswer(runbookPage(site))),
    get('/docs/search.json', jsonAnswer(JSON.stringify(searchIndex(document, guides)))),
    get('/openapi.json', jsonAnswer(JSON.stringify(document))),
  ];
}
