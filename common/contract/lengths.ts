// Lengths and paper formats as callers write them. Owns syntax and inches; which sizes are allowed
// is paper.ts's.

/**
 * CSS's units, by how many of them make an inch: dividing keeps 25.4mm exactly one inch, which
 * multiplying would not.
 */
const PER_INCH: Record<string, number> = { in: 1, px: 96, cm: 2.54, mm: 25.4, pt: 72, pc: 6 };
const NUMBER = '(?:\\d+(?:\\.\\d*)?|\\.\\d+)';
const UNIT = '(?:px|in|cm|mm|pt|pc)';

/** What a length looks like, as a regular expression that the API description shows. */
export const LENGTH_PATTERN = `^${NUMBER}${UNIT}?$`;

const MM = (width: number, height: number) => ({ widthIn: width / 25.4, heightIn: height / 25.4 });

/** Named sizes, portrait except Ledger, which is Tabloid lying down. */
export const NAMED_FORMATS = {
  A0: MM(841, 1189),
  A1: MM(594, 841),
  A2: MM(420, 594),
  A3: MM(297, 420),
  A4: MM(210, 297),
  A5: MM(148, 210),
  A6: MM(105, 148),
  Letter: { widthIn: 8.5, heightIn: 11 },
  Legal: { widthIn: 8.5, heightIn: 14 },
  Tabloid: { widthIn: 11, heightIn: 17 },
  Ledger: { widthIn: 17, heightIn: 11 },
} as const;

const byLowerCase = new Map(
  Object.entries(NAMED_FORMATS).map(([name, size]) => [name.toLowerCase(), size]),
);

/**
 * Regular expressions in JSON Schema know no flag for case, so each letter of a name stands in
 * both.
 */
const eitherCase = (name: string) =>
  name.replace(/[A-Za-z]/g, letter => `[${letter.toUpperCase()}${letter.toLowerCase()}]`);

/** What a format looks like, as a regular expression that the API description shows. */
export const FORMAT_PATTERN = `^(?:${Object.keys(NAMED_FORMATS).map(eitherCase).join('|')}|${NUMBER}${UNIT}?x(?:auto|${NUMBER}${UNIT}?))$`;

const LENGTH = new RegExp(`^(${NUMBER})(${UNIT})?$`);
const SIDES = new RegExp(`^(${NUMBER}${UNIT}?)x(auto|${NUMBER}${UNIT}?)$`);

/**
 * True for `20`, false for `20px` and for what is no length: only a bare number can be meant in
 * another unit.
 */
export function isUnitless(text: string): boolean {
  const match = LENGTH.exec(text);
  return match !== null && match[2] === undefined;
}

/**
 * `10mm`, `.5in`, `20px` to inches, never negative. A bare number counts in `unitless`. Undefined
 * when the text is no length.
 */
export function parseLengthIn(text: string, unitless: 'in' | 'px' = 'in'): number | undefined {
  const match = LENGTH.exec(text);
  return match ? Number(match[1]) / PER_INCH[match[2] ?? unitless]! : undefined;
}

/** `auto` is a height that follows the content. */
export interface Format {
  widthIn: number;
  heightIn: number | 'auto';
}

/**
 * A name (without regard to case), `{width}x{height}` or `{width}xauto` to inches; the unit of one
 * side does not spread to the other. A bare number is inches, but pixels as the width beside
 * `auto`. Undefined when the text is none of these; sizes are not checked.
 */
export function parseFormat(text: string): Format | undefined {
  const named = byLowerCase.get(text.toLowerCase());
  if (named) return named;
  const [, width, height] = SIDES.exec(text) ?? [];
  if (width === undefined || height === undefined) return undefined;
  if (height === 'auto') return { widthIn: parseLengthIn(width, 'px')!, heightIn: 'auto' };
  return { widthIn: parseLengthIn(width)!, heightIn: parseLengthIn(height)! };
}
