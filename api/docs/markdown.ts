// Markdown files as pages: headings get the IDs that GitHub gives them, and links between files
// become links between pages.
import { Marked, type Tokens } from 'marked';

export const idOf = (title: string): string =>
  title
    .toLowerCase()
    .replace(/[^\w\s-]/g, '')
    .trim()
    .replace(/\s+/g, '-');

export interface PageSection {
  id: string;
  title: string;
  depth: number;
  /** The text below the heading, without markup. */
  text: string;
}

export interface MarkdownPage {
  title: string;
  html: string;
  /** All headings below the title. */
  sections: PageSection[];
}

const plain = (markdown: string) =>
  markdown
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/^\s*\|?[-:| ]+\|?\s*$/gm, ' ')
    .replace(/[`*|]|^#+|^```\w*/gm, ' ')
    .replace(/\s+/g, ' ')
    .trim();

/**
 * `linkTo` returns the address of a link's target, or undefined for a file that is not served: then
 * only its text is shown.
 */
export function markdownPage(
  text: string,
  linkTo: (target: string) => string | undefined = target => target,
): MarkdownPage {
  const sections: PageSection[] = [];
  let title = '';
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text: raw }) {
        const name = plain(raw);
        const id = idOf(raw);
        if (depth === 1) title = name;
        else sections.push({ id, title: name, depth, text: '' });
        return `<h${depth} id="${id}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      table(token) {
        const cells = (row: typeof token.header) => row.map(cell => this.tablecell(cell)).join('');
        const rows = token.rows.map(row => `<tr>${cells(row)}</tr>\n`).join('');
        return `<div class="wide" tabindex="0"><table><thead><tr>${cells(token.header)}</tr></thead><tbody>${rows}</tbody></table></div>\n`;
      },
      code(token) {
        const code = token.text.replace(/[&<>]/g, found => ESCAPED[found]!);
        return `<pre tabindex="0"><code>${code}\n</code></pre>\n`;
      },
      link(token: Tokens.Link) {
        const inner = this.parser.parseInline(token.tokens);
        const target = linkTo(token.href);
        return target === undefined ? inner : `<a href="${encodeURI(target)}">${inner}</a>`;
      },
    },
  });
  const html = marked.parse(text, { async: false });
  let at = -1;
  for (const token of marked.lexer(text)) {
    const section = token.type === 'heading' && token['depth'] > 1 ? sections[++at] : sections[at];
    if (section && token.type !== 'heading')
      section.text = `${section.text} ${plain(token.raw)}`.trim();
  }
  return { title, html, sections };
}

const ESCAPED: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };
