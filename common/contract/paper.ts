// Lengths, paper formats and margins: their notations, their limits and what they are in inches.
import { quoted } from './problems.ts';

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
const WIDTH_X_HEIGHT = new RegExp(`^(${NUMBER}${UNIT}?)x(auto|${NUMBER}${UNIT}?)$`);

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
  const [, width, height] = WIDTH_X_HEIGHT.exec(text) ?? [];
  if (width === undefined || height === undefined) return undefined;
  if (height === 'auto') return { widthIn: parseLengthIn(width, 'px')!, heightIn: 'auto' };
  return { widthIn: parseLengthIn(width)!, heightIn: parseLengthIn(height)! };
}

export const MIN_SIDE_IN = 0.5;
export const MAX_SIDE_IN = 200;
export const DEFAULT_FORMAT = 'A4';
export const DEFAULT_MARGIN = '0.4in';
export const SIDES = ['top', 'right', 'bottom', 'left'] as const;
export type Side = (typeof SIDES)[number];

/** Sums of inches such as 12.7mm come out a hair off; nobody means that hair. */
const HAIR_IN = 1e-9;
const fits = (sideIn: number) => sideIn >= MIN_SIDE_IN - HAIR_IN && sideIn <= MAX_SIDE_IN + HAIR_IN;
export const inches = (valueIn: number) => `${Number(valueIn.toPrecision(4))} inches`;

const LENGTH_WORDS =
  'a length such as `210mm`, `8.5in` or `800px` (px, in, cm, mm, pt, pc; inches without a unit)';
const FORMAT_WORDS = `${Object.keys(NAMED_FORMATS).join(', ')}, {width}x{height} such as \`210mmx297mm\`, or {width}xauto such as \`80mmxauto\``;

/**
 * What is wrong with a margin, as the words that follow the field's name; undefined when nothing
 * is.
 */
export const marginProblem = (text: string): string | undefined =>
  parseLengthIn(text) === undefined
    ? `must be a length of 0 or more such as \`10mm\`, \`0.5in\` or \`20px\` (px, in, cm, mm, pt, pc; inches without a unit), not ${quoted(text)}`
    : undefined;

/** Like marginProblem, for paper_width and paper_height. */
export function sideProblem(text: string): string | undefined {
  const sideIn = parseLengthIn(text);
  if (sideIn === undefined) return `must be ${LENGTH_WORDS}, not ${quoted(text)}`;
  if (fits(sideIn)) return undefined;
  const hint =
    isUnitless(text) && fits(sideIn / 96)
      ? `; ${quoted(text)} is ${inches(sideIn)}, did you mean \`${text}px\`?`
      : '';
  return `must be from ${MIN_SIDE_IN} to ${MAX_SIDE_IN} inches${hint || `, not ${quoted(text)}`}`;
}

/** Like marginProblem, for format. */
export function formatProblem(text: string): string | undefined {
  const format = parseFormat(text);
  if (!format)
    return `must be ${FORMAT_WORDS}, with the units px, in, cm, mm, pt, pc or none for inches, not ${quoted(text)}`;
  if (format.heightIn === 'auto') {
    if (fits(format.widthIn)) return undefined;
    const width = text.slice(0, -'xauto'.length);
    const hint =
      isUnitless(width) && fits(format.widthIn * 96)
        ? `; without a unit it counts in pixels here, did you mean \`${width}inxauto\`?`
        : '';
    return `must be from ${MIN_SIDE_IN} to ${MAX_SIDE_IN} inches wide${hint || `, not ${quoted(text)}`}`;
  }
  if (fits(format.widthIn) && fits(format.heightIn)) return undefined;
  const [width = '', height = ''] = text.split(/(?<!p)x/);
  const meantPixels =
    isUnitless(width) &&
    isUnitless(height) &&
    fits(format.widthIn / 96) &&
    fits(format.heightIn / 96);
  const hint = meantPixels
    ? `; without units they are inches, did you mean \`${width}pxx${height}px\`?`
    : '';
  return `must have sides from ${MIN_SIDE_IN} to ${MAX_SIDE_IN} inches${hint || `, not ${quoted(text)}`}`;
}

/**
 * The fields that say how large the sheet is and how much of it stays white; every text in them has
 * passed its check above.
 */
export interface PaperFields {
  format?: string | undefined;
  paper_width?: string | undefined;
  paper_height?: string | undefined;
  landscape?: boolean | undefined;
  single_page?: boolean | undefined;
  margin?: { [side in Side]?: string | undefined } | undefined;
  header?: { height?: string | undefined } | undefined;
  footer?: { height?: string | undefined } | undefined;
}

/** True when the height of `{width}xauto` follows the content. */
export const hasAutoHeight = ({ format }: PaperFields): boolean =>
  parseFormat(format ?? DEFAULT_FORMAT)?.heightIn === 'auto';

/**
 * The sheet after `landscape`. With `singlePage` its height is only the one to lay out in: beside
 * `auto`, the default format's.
 */
export function paperOf(fields: PaperFields): {
  widthIn: number;
  heightIn: number;
  singlePage: boolean;
} {
  const format = parseFormat(fields.format ?? DEFAULT_FORMAT)!;
  const singlePage = fields.single_page === true || format.heightIn === 'auto';
  if (format.heightIn === 'auto')
    return {
      widthIn: format.widthIn,
      heightIn: NAMED_FORMATS[DEFAULT_FORMAT].heightIn,
      singlePage,
    };
  const given = fields.paper_width !== undefined && fields.paper_height !== undefined;
  const widthIn = given ? parseLengthIn(fields.paper_width!)! : format.widthIn;
  const heightIn = given ? parseLengthIn(fields.paper_height!)! : format.heightIn;
  return fields.landscape
    ? { widthIn: heightIn, heightIn: widthIn, singlePage }
    : { widthIn, heightIn, singlePage };
}

/**
 * The texts that ask for room at a side, by the field's name: a header draws in the margin, which
 * is as tall as the taller of the two says.
 */
function roomAsked(
  { margin, header, footer }: PaperFields,
  side: Side,
): { name: string; text: string | undefined; roomIn: number } {
  const own = {
    name: `margin.${side}`,
    text: margin?.[side],
    roomIn: parseLengthIn(margin?.[side] ?? DEFAULT_MARGIN)!,
  };
  const height = side === 'top' ? header?.height : side === 'bottom' ? footer?.height : undefined;
  const heightIn = height === undefined ? 0 : parseLengthIn(height)!;
  return heightIn > own.roomIn
    ? { name: side === 'top' ? 'header.height' : 'footer.height', text: height, roomIn: heightIn }
    : own;
}

/** What stays white at each side for margins, header and footer. */
export const marginsOf = (fields: PaperFields): Record<Side, number> => {
  const sideIn = (side: Side) => roomAsked(fields, side).roomIn;
  return {
    top: sideIn('top'),
    right: sideIn('right'),
    bottom: sideIn('bottom'),
    left: sideIn('left'),
  };
};

/** No one asks for a margin this wide; who writes `20` without a unit thinks of pixels. */
const MEANT_PIXELS_IN = 5;

/**
 * What is wrong with the margins on this sheet, as a sentence; undefined when at least 0.5 in of it
 * is left in both directions.
 */
export function roomProblem(fields: PaperFields): string | undefined {
  const paper = paperOf(fields);
  const directions = [
    { sides: ['left', 'right'], lengthIn: paper.widthIn, word: 'wide' },
    // A single page grows with its content, but no sheet is taller than this.
    {
      sides: ['top', 'bottom'],
      lengthIn: paper.singlePage ? MAX_SIDE_IN : paper.heightIn,
      word: 'tall',
    },
  ] as const;
  for (const { sides, lengthIn, word } of directions) {
    const asked = sides.map(side => roomAsked(fields, side));
    const leftIn = asked.reduce((left, { roomIn }) => left - roomIn, lengthIn);
    if (leftIn >= MIN_SIDE_IN - HAIR_IN) continue;
    const bare = asked
      .map(({ text }) => text)
      .find(text => text && isUnitless(text) && Number(text) >= MEANT_PIXELS_IN);
    const hint = bare ? ` \`${bare}\` is ${inches(Number(bare))}; did you mean \`${bare}px\`?` : '';
    const names = asked.map(({ name }) => `\`${name}\``).join(' and ');
    const unsaid = asked.every(({ text }) => text !== undefined)
      ? ''
      : ` (${DEFAULT_MARGIN} unless you say otherwise)`;
    return `${names}${unsaid} leave less than ${MIN_SIDE_IN} inches of a page that is ${inches(lengthIn)} ${word}.${hint}`;
  }
  return undefined;
}
