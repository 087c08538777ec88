// The fields `header` and `footer`. Placeholders in their HTML become the elements that Chrome fills
// in on each page.
import { z } from 'zod';
import { lengthProblem, text } from './field.ts';
import { LENGTH_PATTERN, marginProblem } from './paper.ts';
import { placeholderProblem } from './placeholders.ts';

/** Header and footer go to Chrome in one command and are laid out on every page. */
export const MAX_HEADER_LENGTH = 65_536;

const htmlProblem = (value: string) =>
  lengthProblem(value, MAX_HEADER_LENGTH) ?? placeholderProblem(value);

const shape = (edge: 'top' | 'bottom') => ({
  html: text('an HTML string', htmlProblem, {
    description: `HTML for the ${edge} margin of every page. Default style: 10px text, with the page's side margins as padding. Placeholders: \`{{page}}\` is the page number and \`{{total}}\` the number of pages (spaces inside the braces are allowed); elements with the classes \`pageNumber\` and \`totalPages\` do the same. Placeholders are allowed in text only. Other placeholders and the classes \`date\`, \`title\` and \`url\` are rejected. Scripts do not run and nothing is loaded: images must be \`data:\` URLs. At most ${MAX_HEADER_LENGTH} characters.`,
    examples: ['<b>Invoice 42</b> page {{page}} of {{total}}', '<span class="pageNumber"></span>'],
    maxLength: MAX_HEADER_LENGTH,
  }),
  height: text('a length string such as `15mm`', marginProblem, {
    description: `Height reserved at the ${edge}, a length with the unit px, in, cm, mm, pt or pc (without a unit: inches). The page margin is the larger of this and \`margin.${edge}\`, even without \`html\`. Must not be negative. At least 0.5 inches of the page must remain.`,
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
