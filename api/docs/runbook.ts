// /docs/runbook: the runbook of this version, to which its alerts link. It is the file of the
// chart, made into a page once.
import { readFileSync } from 'node:fs';
import { Marked } from 'marked';
import { Markup, markup } from '../../common/contract/markup.ts';
import type { Middleware } from '../http/state.ts';
import { docsAnswer } from './answer.ts';
import { docsShell } from './shell.ts';

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

export function runbook(): Middleware {
  const { html, sections } = readRunbook(readFileSync(FILE, 'utf8'));
  return docsAnswer(
    docsShell({
      title: 'Pressroom runbook',
      brand: markup`Pressroom <span>runbook</span>`,
      contents: markup`<ul>${sections.map(({ id, title }) => markup`<li><a href="#${id}">${title}</a></li>`)}</ul>`,
      main: new Markup(html),
    }),
  );
}
