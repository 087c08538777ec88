// /docs/runbook: the runbook of this version, to which its alerts link. It is the file of the
// chart, made into a page once.
import { readFileSync } from 'node:fs';
import { Marked } from 'marked';
import { docsStyle, docsStyleSource } from '../../common/contract/docs-style.ts';
import { Markup, markup } from '../../common/contract/markup.ts';
import type { Middleware } from '../http/state.ts';

const FILE = new URL('../../charts/pressroom/runbook.md', import.meta.url);

const idOf = (title: string) =>
  title
    .toLowerCase()
    .replace(/[^\w\s-]/g, '')
    .trim()
    .replace(/\s+/g, '-');

interface Section {
  id: string;
  title: string;
}

/** Its headings get ids, as GitHub gives them; `sections` are those of the second level. */
function readRunbook(text: string): { html: string; sections: Section[] } {
  const sections: Section[] = [];
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text: title }) {
        const id = idOf(title);
        if (depth === 2) sections.push({ id, title });
        return `<h${depth} id="${id}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      table(token) {
        const cells = (row: typeof token.header) => row.map(cell => this.tablecell(cell)).join('');
        const rows = token.rows.map(row => `<tr>${cells(row)}</tr>\n`).join('');
        return `<div class="wide"><table><thead><tr>${cells(token.header)}</tr></thead><tbody>${rows}</tbody></table></div>\n`;
      },
    },
  });
  const html = marked.parse(text, { async: false });
  return { html, sections };
}

const pageOf = ({ html, sections }: ReturnType<typeof readRunbook>): string =>
  markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Pressroom runbook</title>
<style>${new Markup(docsStyle)}</style>
</head>
<body>
<a class="skip" href="#content">To the content</a>
<div class="page">
<nav aria-label="Contents">
<a class="brand" href="#content">Pressroom <span>runbook</span></a>
<ul>${sections.map(({ id, title }) => markup`<li><a href="#${id}">${title}</a></li>`)}</ul>
</nav>
<main id="content">
${new Markup(html)}
</main>
</div>
</body>
</html>
`.text;

export function runbook(): Middleware {
  const page = pageOf(readRunbook(readFileSync(FILE, 'utf8')));
  return ctx => {
    ctx.type = 'text/html';
    ctx.set('Cache-Control', 'public, max-age=300');
    ctx.set(
      'Content-Security-Policy',
      `default-src 'none'; style-src ${docsStyleSource}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    );
    ctx.set('Referrer-Policy', 'no-referrer');
    ctx.body = page;
  };
}
