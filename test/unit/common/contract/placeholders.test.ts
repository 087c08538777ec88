// @proves header.html

import { expect } from 'chai';
import fc from 'fast-check';
import {
  placeholderProblem,
  replacePlaceholders,
} from '../../../../common/contract/placeholders.ts';

const SPANS = {
  page: '<span class="pageNumber"></span>',
  total: '<span class="totalPages"></span>',
};

/** Pieces of HTML that end in the text of the document. */
const piece = fc.constantFrom(
  'Page ',
  'a & b &amp; c',
  '<b>',
  '</b>',
  '<br/>',
  '<p class="x y">',
  '<style>p { color: red }</style>',
  '<textarea><b></textarea>',
  '<title></b></title>',
  '<script>if (a < b) "</p>"</script>',
  '<svg><text>t</text></svg>',
  '<math/>',
  '<!-- c -->',
  '<!doctype html>',
  '\r\n',
  '\n',
  ' ',
  '\u0000',
  '日😀',
  '<p title="}}">',
  '{ ',
);

describe('placeholders of a header', () => {
  it('do not change HTML without placeholders', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(
            piece,
            fc.string({ unit: 'binary' }),
            fc.constantFrom('<', '>', '{', '}', '&', '"', '/', '!--'),
          ),
        ),
        parts => {
          const html = parts.join('').replaceAll(/\{\s*\{/g, '{');
          fc.pre(!html.includes('{{'));
          expect(replacePlaceholders(html)).to.equal(html);
        },
      ),
      { numRuns: 1_000 },
    );
  });

  it('are replaced between any tags without other changes', () => {
    const placeholder = fc.constantFrom(...(['page', 'total'] as const)).map(name => ({ name }));
    fc.assert(
      fc.property(
        fc.array(fc.oneof(piece, placeholder)),
        fc.constantFrom('', ' ', '\t '),
        (parts, space) => {
          // A tag on both sides, so that no text beside a placeholder is escaped again.
          const written = parts
            .map(part =>
              typeof part === 'string' ? part : `<i>{{${space}${part.name}${space}}}</i>`,
            )
            .join('');
          const expected = parts
            .map(part => (typeof part === 'string' ? part : `<i>${SPANS[part.name]}</i>`))
            .join('');
          expect(placeholderProblem(written)).to.equal(undefined);
          expect(replacePlaceholders(written)).to.equal(expected);
        },
      ),
      { numRuns: 1_000 },
    );
  });

  it('are found in one pass, also in HTML whose tree would be a thousand times larger', () => {
    const formatting = Array.from(
      { length: 4_000 },
      (_, index) => `<b ${index.toString(36)}>`,
    ).join('');
    const hostile = `${formatting}${'<p>x'.repeat(9_000)}`;
    expect(replacePlaceholders(`${hostile}{{page}}`)).to.equal(`${hostile}${SPANS.page}`);
    expect(replacePlaceholders('<b>'.repeat(21_000))).to.have.length(63_000);
    expect(placeholderProblem('{{'.repeat(32_768))).to.equal(undefined);
    expect(placeholderProblem(`<svg>${'<svg>'.repeat(10_000)}{{page}}`)).to.contain('inside <svg>');
  });
});
