// The fields `header` and `footer`: their shape, and the placeholders in their html, which become
// what Chrome fills in on each page.
import { z } from 'zod';
import { lengthProblem, text } from './field.ts';
import { LENGTH_PATTERN, marginProblem } from './paper.ts';
import { placeholderProblem } from './placeholders.ts';

/** It goes to Chrome together with the other one, and is laid out again on every page. */
export const MAX_HEADER_LENGTH = 65_536;

const htmlProblem = (value: string) =>
  lengthProblem(value, MAX_HEADER_LENGTH) ?? placeholderProblem(value);

const shape = (edge: 'top' | 'bottom') => ({
  html: text('HTML in a string', htmlProblem, {
    description: `HTML drawn inside the ${edge} margin of every page, with 10px text and the page's side margins as padding unless it says otherwise. In its text \`{{page}}\` stands for the number of the page and \`{{total}}\` for how many the document has (spaces inside the braces are allowed); elements with the classes \`pageNumber\` and \`totalPages\` do the same. Any other \`{{…}}\`, one in an attribute, a style, a script or an SVG, and elements with the classes \`date\`, \`title\` and \`url\` are refused. Scripts do nothing and nothing is loaded, so give images as \`data:\` addresses. At most ${MAX_HEADER_LENGTH} characters.`,
    examples: ['<b>Invoice 42</b> page {{page}} of {{total}}', '<span class="pageNumber"></span>'],
    maxLength: MAX_HEADER_LENGTH,
  }),
  height: text('a length in a string, such as "15mm"', marginProblem, {
    description: `Room to keep at the ${edge}: the page's margin there is the larger one of this and \`margin.${edge}\`, also without \`html\`. A length with the unit px, in, cm, mm, pt or pc; inches without a unit. Not negative. At least 0.5 inches of the page must be left.`,
    examples: ['15mm', '0.75in'],
    pattern: LENGTH_PATTERN,
  }),
});

const headerOrFooter = (name: string, edge: 'top' | 'bottom') =>
  z
    .strictObject(shape(edge), { error: 'an object with `html` and `height`' })
    .meta({
      description: `A ${name} in the ${edge} margin of every page.`,
      examples: [{ html: 'Page {{page}} of {{total}}', height: '15mm' }],
    })
    .optional();

export const header = headerOrFooter('header', 'top');
export const footer = headerOrFooter('footer', 'bottom');
export const headerFooterNames = Object.keys(shape('top'));
