// The layout of the pages under /docs: search, guides and table of contents beside the text.
import { Markup, markup } from '../../common/contract/markup.ts';
import { PAGE_SCRIPT, STYLE, THEME_SCRIPT } from './assets.ts';

/** What all pages have in common. */
export interface DocsSite {
  /** The base of all absolute URLs, without a trailing slash. */
  publicUrl: string;
  /** Whether the dashboard is on. */
  dashboard: boolean;
  guides: readonly { path: string; title: string }[];
}

interface DocsPage {
  /** Of the page, for example `/docs/guides/waits`. */
  path: string;
  title: string;
  /** The contents of this page, as a list. */
  contents: Markup;
  main: Markup;
  script?: Markup;
}

/** From `path` to the root of the installation, which a reverse proxy may serve under a path. */
const rootFrom = (path: string) => '../'.repeat(path.split('/').length - 2) || './';

export const sectionList = (sections: readonly { id: string; title: string }[]): Markup =>
  markup`<ul>${sections.map(({ id, title }) => markup`<li><a href="#${id}">${title}</a></li>`)}</ul>`;

export function docsShell(site: DocsSite, page: DocsPage): string {
  const root = rootFrom(page.path);
  const link = (path: string, title: string) => {
    const current = path === page.path;
    const marked = current ? markup` aria-current="page"` : undefined;
    return markup`<li><a href="${root}${path.slice(1)}"${marked}>${title}</a>${current ? page.contents : undefined}</li>`;
  };
  const inNavigation = [REFERENCE, ...site.guides].some(({ path }) => path === page.path);
  return markup`<!doctype html>
<html lang="en" data-root="${root}" data-base="${site.publicUrl}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${page.title}</title>
<script>${new Markup(THEME_SCRIPT)}</script>
<style>${new Markup(STYLE)}</style>
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
<div class="page">
<header class="side">
<div class="bar">
<a class="brand" href="${root}docs">Pressroom <span>docs</span></a>
<button id="scheme-button" class="plain" type="button" hidden></button>
<button id="contents-button" class="plain" type="button" aria-controls="contents" hidden>Contents</button>
</div>
<search id="search" class="search" hidden>
<input type="search" aria-label="Search the docs" placeholder="Search (press /)" autocomplete="off" spellcheck="false">
<p class="status" role="status"></p>
<ul></ul>
</search>
<nav id="contents" class="contents" aria-label="Docs">
${
  site.dashboard
    ? markup`<p class="links"><a href="${root}app/">Dashboard</a> <a href="${root}app/keys">API keys</a></p>`
    : undefined
}
${inNavigation ? undefined : markup`<h2>${page.title}</h2>${page.contents}`}
<h2>Guides</h2>
<ul>${site.guides.map(({ path, title }) => link(path, title))}</ul>
<h2>Reference</h2>
<ul>${link(REFERENCE.path, REFERENCE.title)}</ul>
</nav>
</header>
<main id="content">
${page.main}
</main>
</div>
<script>${new Markup(PAGE_SCRIPT)}</script>
${page.script}
</body>
</html>
`.text;
}

const REFERENCE = { path: '/docs', title: 'API reference' };
