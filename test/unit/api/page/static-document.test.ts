import { expect } from 'chai';
import { DYNAMIC_REASONS, dynamicReason } from '../../../../api/page/static-document.ts';
import { invoice } from '../../../../bench/invoice.ts';
import {
  DYNAMIC_DOCUMENTS,
  STATIC_DOCUMENTS,
  withTargets,
} from '../../../support/pages/static-documents.ts';

const shown = (html: string) => JSON.stringify(html.slice(0, 90));
const targeted = (html: string) => withTargets(html, '192.0.2.1', 'leak()');

describe('a document for a warm page', () => {
  for (const html of [invoice(1), ...STATIC_DOCUMENTS])
    it(`may be ${shown(html)}`, () => {
      expect(dynamicReason(targeted(html))).to.equal(undefined);
    });

  for (const html of DYNAMIC_DOCUMENTS)
    it(`is not ${shown(html)}`, () => {
      expect(dynamicReason(targeted(html))).to.be.oneOf(DYNAMIC_REASONS);
    });

  for (const [html, reason] of [
    ['<script>1</script>', 'script'],
    ['<p onclick=x>', 'script'],
    ['<img src=a.png>', 'url'],
    ['<a href=javascript:x>', 'url'],
    ['<p contenteditable>', 'attribute'],
    ['<svg><use href=#x /></svg>', 'element'],
    ['<style>@import "a"</style>', 'css'],
    ['<p style="background:url(a)">', 'css'],
    ['<style>/*url(#*/p{background:url(//e/x)}</style>', 'css'],
    ['<p a=1 a=2>', 'malformed'],
    ['x'.repeat(200_000), 'size'],
  ] as const)
    it(`is not ${shown(html)}, because of: ${reason}`, () => {
      expect(dynamicReason(html)).to.equal(reason);
    });

  it('may contain its words as text', () => {
    const words = '@import url(x) onload= javascript: &lt;script&gt; \\';
    expect(dynamicReason(`<p title='${words}'>${words}</p><!-- ${words} -->`)).to.equal(undefined);
  });
});
