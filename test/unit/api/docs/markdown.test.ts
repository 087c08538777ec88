import { expect } from 'chai';
import { markdownPage } from '../../../../api/docs/markdown.ts';

describe('a Markdown file as a page', () => {
  it('has a title, and sections with the IDs of GitHub and their text', () => {
    const { title, sections } = markdownPage(`# The \`title\`

Before.

## Waits for a *selector*

Use [\`wait_for_selector\`](fields.md).

| a | b |
| --- | --- |
| one | two |

### render_failed: page_timeout

\`\`\`json
{}
\`\`\`
`);
    expect(title).to.equal('The title');
    expect(sections).to.deep.equal([
      {
        id: 'waits-for-a-selector',
        title: 'Waits for a selector',
        depth: 2,
        text: 'Use wait_for_selector . a b one two',
      },
      {
        id: 'render_failed-page_timeout',
        title: 'render_failed: page_timeout',
        depth: 3,
        text: 'json {}',
      },
    ]);
  });

  it('resolves links, and shows the text of those that lead to no page', () => {
    const { html } = markdownPage('[a](a.md) and [b](../b.md)', target =>
      target === 'a.md' ? 'a' : undefined,
    );
    expect(html).to.equal('<p><a href="a">a</a> and b</p>\n');
  });

  it('escapes code', () => {
    expect(markdownPage('```html\n<b>&amp;</b>\n```').html).to.equal(
      '<pre tabindex="0"><code>&lt;b&gt;&amp;amp;&lt;/b&gt;\n</code></pre>\n',
    );
  });
});
