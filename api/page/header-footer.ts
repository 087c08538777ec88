// Header and footer of a print: the caller's html in a box that is the page's margin, as Chrome's templates take it.
import type { Plan } from './plan.ts';
import { templateHtml } from './template-html.ts';

/** Chrome's own boxes around both: a style of the caller's for every `div` would give them a size and a background, over the content. */
const FRAME = '<style>html,body,body>div{all:initial!important}body>div{display:contents!important}</style>';

/**
 * What is too tall for the margin is cut off, since Chrome would paint it over the content; what is less stands in its middle.
 * In a template a text has a size of 1 px and backgrounds are left out unless it says otherwise; `scale` does not count in it.
 * The element has a name of its own and is not closed, so that no end tag of the caller's closes it and nothing is swallowed that was left open.
 */
function template(html: string, edge: 'top' | 'bottom', { marginIn, printBackground }: Plan['print']): string {
  const style = [
    `display:block;position:absolute;${edge}:0;left:0;width:100%;height:${marginIn[edge]}in;box-sizing:border-box`,
    `padding:0 ${marginIn.right}in 0 ${marginIn.left}in;overflow:hidden;contain:paint;align-content:safe center`,
    `font:10px sans-serif;color:#000;text-align:start;-webkit-print-color-adjust:${printBackground ? 'exact' : 'economy'}`,
  ];
  return `${FRAME}<page-margin style="${style.join(';')}">${templateHtml(html)}`;
}

/** The part of Page.printToPDF's parameters that says it; nothing when the plan has neither. The one that is missing is empty: Chrome has texts of its own. */
export function headerFooter({ print }: Plan): { displayHeaderFooter?: boolean; headerTemplate?: string; footerTemplate?: string } {
  const { headerHtml, footerHtml } = print;
  if (headerHtml === undefined && footerHtml === undefined) return {};
  return {
    displayHeaderFooter: true,
    headerTemplate: template(headerHtml ?? '', 'top', print),
    footerTemplate: template(footerHtml ?? '', 'bottom', print),
  };
}
