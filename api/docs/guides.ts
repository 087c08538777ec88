// The guides: the files of docs/guides as pages under /docs/guides.
import { readdirSync, readFileSync } from 'node:fs';
import { Markup } from '../../common/contract/markup.ts';
import { type MarkdownPage, markdownPage } from './markdown.ts';
import { type DocsSite, docsShell, sectionList } from './shell.ts';

const FOLDER = new URL('../../docs/guides/', import.meta.url);
/** The address that the files use, so that their examples also work when read as files. */
const EXAMPLE_URL = 'http://localhost:8080';

export interface Guide extends MarkdownPage {
  path: string;
}

/**
 * Guides link to each other by file name. The API reference has the examples of docs/clients.md.
 * Other files of the repository are not served.
 */
function linkTo(target: string): string | undefined {
  if (/^(https?:|#)/.test(target)) return target;
  if (target === '../clients.md') return '../../docs';
  const [, name, anchor = ''] = /^(?:\.\/)?([\w-]+)\.md(#.*)?$/.exec(target) ?? [];
  return name === undefined || name === 'README' ? undefined : `${name}${anchor}`;
}

const ASYNC_RENDERS = 'async-renders';

/** The order in the navigation. */
const ORDER = [
  'quick-start',
  'headers-and-page-numbers',
  'page-breaks',
  'fonts-and-languages',
  'single-page-apps',
  'images',
  'errors',
  'limits-and-retries',
  ASYNC_RENDERS,
];

/** `asyncRenders`: whether /v1/renders is on. Without it, its guide is not shown. */
export function readGuides(publicUrl: string, { asyncRenders = false } = {}): Guide[] {
  const position = (name: string) => (ORDER.indexOf(name) + ORDER.length + 1) % (ORDER.length + 1);
  return readdirSync(FOLDER)
    .filter(name => name.endsWith('.md') && name !== 'README.md')
    .map(name => name.slice(0, -'.md'.length))
    .filter(name => asyncRenders || name !== ASYNC_RENDERS)
    .sort((a, b) => position(a) - position(b) || a.localeCompare(b))
    .map(name => ({
      path: `/docs/guides/${name}`,
      ...markdownPage(
        readFileSync(new URL(`${name}.md`, FOLDER), 'utf8').replaceAll(EXAMPLE_URL, publicUrl),
        linkTo,
      ),
    }));
}

export const guidePage = (site: DocsSite, { path, title, html, sections }: Guide): string =>
  docsShell(site, {
    path,
    title: `${title} · Pressroom`,
    contents: sectionList(sections.filter(({ depth }) => depth === 2)),
    main: new Markup(html),
  });
