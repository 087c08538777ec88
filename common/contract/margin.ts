// The field `margin`: a length for each side, or one for all sides.
import { z } from 'zod';
import { requiredText } from './field.ts';
import {
  DEFAULT_MARGIN,
  LENGTH_PATTERN,
  LENGTH_UNITS,
  type Margin,
  marginProblem,
  type Side,
} from './paper.ts';

/** The alternatives of a length: a string, or the number 0, which needs no unit as in CSS. */
const lengths = (error: string, description: string) =>
  [
    requiredText(error, marginProblem, {
      description,
      examples: ['10mm', '0.5in', '0'],
      pattern: LENGTH_PATTERN,
    }),
    z.int({ error }).min(0, { error }).max(0, { error }) as unknown as z.ZodType<0>,
  ] as const;

const SIDE = 'a length string such as `10mm`, or 0';
const margin = (description: string): z.ZodOptional<z.ZodType<Margin>> =>
  z
    .union(lengths(SIDE, 'A length.'), { error: SIDE })
    .meta({ description, examples: ['10mm', '0.5in', 0], default: DEFAULT_MARGIN })
    .optional();

export const marginShape: Record<Side, ReturnType<typeof margin>> = {
  top: margin(`The top margin, ${LENGTH_UNITS}. Must not be negative.`),
  right: margin('The right margin, like `top`.'),
  bottom: margin('The bottom margin, like `top`.'),
  left: margin('The left margin, like `top`.'),
};

const MARGIN =
  'a length string for all sides such as `10mm`, or an object with `top`, `right`, `bottom` and `left`';

export const marginField = z
  .union([z.strictObject(marginShape), ...lengths(MARGIN, 'The margin on all sides.')], {
    error: MARGIN,
  })
  .meta({
    description:
      'Page margins: an object, or one length for all sides. At least 0.5 inches of the page must remain in both directions. When set, it overrides the margins of `@page` rules.',
    examples: [{ top: '20mm', bottom: '20mm' }, '15mm'],
  })
  .optional();
