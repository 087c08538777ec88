// /docs/runbook: the runbook of this version, to which its alerts link. It is the file of the
// chart.
import { readFileSync } from 'node:fs';
import { Markup } from '../../common/contract/markup.ts';
import { markdownPage } from './markdown.ts';
import { type DocsSite, docsShell, sectionList } from './shell.ts';

const FILE = new URL('../../charts/pressroom/runbook.md', import.meta.url);

export function runbookPage(site: DocsSite): string {
  const { title, html, sections } = markdownPage(readFileSync(FILE, 'utf8'));
  return docsShell(site, {
    path: '/docs/runbook',
    title,
    contents: sectionList(sections.filter(({ depth }) => depth === 2)),
    main: new Markup(html),
  });
}
