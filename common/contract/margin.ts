// The field `margin`: a length for each side, or one for all sides.
import { z } from 'zod';
import type { Shown } from './field.ts';
import {
  DEFAULT_MARGIN,
  LENGTH_PATTERN,
  LENGTH_UNITS,
  type Margin,
  marginProblem,
  type Side,
} from './paper.ts';
import { kindOf } from './problems.ts';

/**
 * A string, or the number 0, which is a length without a unit as in CSS. Documented as a string, so
 * that generated clients need no type of its own for it.
 */
const length = (accepts: string, shown: Omit<Shown, 'examples'>): z.ZodType<Margin> =>
  z
    .unknown()
    .superRefine((value, context) => {
      if (value === 0) return;
      const message =
        typeof value === 'string'
          ? marginProblem(value)
          : `must be ${accepts}, not ${kindOf(value)}`;
      if (message !== undefined) context.addIssue({ code: 'custom', message });
    })
    .meta({
      type: 'string',
      examples: ['10mm', '0.5in', '0'],
      pattern: LENGTH_PATTERN,
      ...shown,
    }) as z.ZodType<Margin>;

const margin = (description: string) =>
  length('a length string such as "10mm", or 0', {
    description,
    default: DEFAULT_MARGIN,
  }).optional();

export const marginShape: Record<Side, ReturnType<typeof margin>> = {
  top: margin(`The top margin, ${LENGTH_UNITS}. Must not be negative.`),
  right: margin('The right margin, like `top`.'),
  bottom: margin('The bottom margin, like `top`.'),
  left: margin('The left margin, like `top`.'),
};

const allSides = length(
  'a length string for all sides such as "10mm", or an object with `top`, `right`, `bottom` and `left`',
  { description: 'The margin on all sides.' },
);

export const marginField = z
  .union([z.strictObject(marginShape), allSides])
  .meta({
    description:
      'Page margins: an object, or one length for all sides. A length of 0 may be a number. At least 0.5 inches of the page must remain in both directions. When set, it overrides the margins of `@page` rules.',
    examples: [{ top: '20mm', bottom: '20mm' }, '15mm'],
  })
  .optional();
