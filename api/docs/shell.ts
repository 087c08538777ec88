// The layout of the pages under /docs: a table of contents beside the text.

import { Markup, markup } from '../../common/contract/markup.ts';
import { docsStyle } from './style.ts';

interface DocsPage {
  title: string;
  brand: Markup;
  contents: Markup;
  main: Markup;
  script?: Markup;
}

export const docsShell = ({ title, brand, contents, main, script }: DocsPage): string =>
  markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<style>${new Markup(docsStyle)}</style>
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
<div class="page">
<nav aria-label="Contents">
<a class="brand" href="#content">${brand}</a>
${contents}
</nav>
<main id="content">
${main}
</main>
</div>
${script}
</body>
</html>
`.text;
