// Lengths, paper formats and margins: parses them to inches and checks their limits.
import { quoted } from './problems.ts';

/** CSS units per inch. Division keeps 25.4mm exactly one inch; multiplication would not. */
const PER_INCH: Record<string, number> = { in: 1, px: 96, cm: 2.54, mm: 25.4, pt: 72, pc: 6 };
const NUMBER = '(?:\\d+(?:\\.\\d*)?|\\.\\d+)';
const UNIT = '(?:px|in|cm|mm|pt|pc)';

/** The pattern of a length in the OpenAPI document. */
export const LENGTH_PATTERN = `^${NUMBER}${UNIT}?$`;

const MM = (width: number, height: number) => ({ widthIn: width / 25.4, heightIn: height / 25.4 });

/** Named sizes. All are portrait except Ledger, which is Tabloid in landscape. */
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

/** JSON Schema patterns have no case-insensitive flag, so each letter is a pair. */
const eitherCase = (name: string) =>
  name.replace(/[A-Za-z]/g, letter => `[${letter.toUpperCase()}${letter.toLowerCase()}]`);

/** The pattern of a format in the OpenAPI document. */
export const FORMAT_PATTERN = `^(?:${Object.keys(NAMED_FORMATS).map(eitherCase).join('|')}|${NUMBER}${UNIT}?x(?:auto|${NUMBER}${UNIT}?))$`;

const LENGTH = new RegExp(`^(${NUMBER})(${UNIT})?$`);
const WIDTH_X_HEIGHT = new RegExp(`^(${NUMBER}${UNIT}?)x(auto|${NUMBER}${UNIT}?)$`);

/** True for a number without a unit such as `20`; false for `20px` and invalid lengths. */
export function isUnitless(text: string): boolean {
  const match = LENGTH.exec(text);
  return match !== null && match[2] === undefined;
}

/**
 * Parses `10mm`, `.5in` or `20px` to inches. A number without a unit is in `unitless`. Undefined
 * for an invalid length.
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
 * Parses a name (case-insensitive), `{width}x{height}` or `{width}xauto` to inches. A number without
 * a unit is in inches, or in pixels beside `auto`. Undefined for an invalid format. Sizes are not
 * checked.
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

/** Tolerance for rounding errors of sums such as 12.7mm. */
const TOLERANCE_IN = 1e-9;
const fits = (sideIn: number) =>
  sideIn >= MIN_SIDE_IN - TOLERANCE_IN && sideIn <= MAX_SIDE_IN + TOLERANCE_IN;
export const inches = (valueIn: number) => `${Number(valueIn.toPrecision(4))} inches`;

/** What a length may be, for the OpenAPI document. */
export const LENGTH_UNITS =
  'a length with the unit px, in, cm, mm, pt or pc (without a unit: inches)';

const LENGTH_SYNTAX =
  'a length such as `210mm`, `8.5in` or `800px` (px, in, cm, mm, pt, pc; inches without a unit)';
const FORMAT_SYNTAX = `${Object.keys(NAMED_FORMATS).join(', ')}, {width}x{height} such as \`210mmx297mm\`, or {width}xauto such as \`80mmxauto\``;

/** The error text that follows the field's name, or undefined for a valid margin. */
export const marginProblem = (text: string): string | undefined =>
  parseLengthIn(text) === undefined
    ? `must be a length of 0 or more such as \`10mm\`, \`0.5in\` or \`20px\` (px, in, cm, mm, pt, pc; inches without a unit), not ${quoted(text)}`
    : undefined;

/** Like marginProblem, for paper_width and paper_height. */
export function sideProblem(text: string): string | undefined {
  const sideIn = parseLengthIn(text);
  if (sideIn === undefined) return `must be ${LENGTH_SYNTAX}, not ${quoted(text)}`;
  if (fits(sideIn)) return undefined;
  const hint =
    isUnitless(text) && fits(sideIn / 96)
      ? `. ${quoted(text)} is ${inches(sideIn)}. Did you mean \`${text}px\`?`
      : '';
  return `must be from ${MIN_SIDE_IN} to ${MAX_SIDE_IN} inches${hint || `, not ${quoted(text)}`}`;
}

/** Like marginProblem, for format. */
export function formatProblem(text: string): string | undefined {
  const format = parseFormat(text);
  if (!format)
    return `must be ${FORMAT_SYNTAX} (px, in, cm, mm, pt, pc; inches without a unit), not ${quoted(text)}`;
  if (format.heightIn === 'auto') {
    if (fits(format.widthIn)) return undefined;
    const width = text.slice(0, -'xauto'.length);
    const hint =
      isUnitless(width) && fits(format.widthIn * 96)
        ? `. A width without a unit is in pixels. Did you mean \`${width}inxauto\`?`
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
    ? `. Sides without a unit are in inches. Did you mean \`${width}pxx${height}px\`?`
    : '';
  return `must have sides from ${MIN_SIDE_IN} to ${MAX_SIDE_IN} inches${hint || `, not ${quoted(text)}`}`;
}

/** A length of a margin as a request has it. */
export type Margin = string | 0;

/** The fields for paper size and margins. Each of them is validated. */
export interface PaperFields {
  format?: string | undefined;
  paper_width?: string | undefined;
  paper_height?: string | undefined;
  prefer_css_page_size?: boolean | undefined;
  landscape?: boolean | undefined;
  single_page?: boolean | undefined;
  margin?: Margin | { [side in Side]?: Margin | undefined } | undefined;
  header?: { height?: string | undefined } | undefined;
  footer?: { height?: string | undefined } | undefined;
}

/** True when the height of `{width}xauto` follows the content. */
export const hasAutoHeight = ({ format }: PaperFields): boolean =>
  parseFormat(format ?? DEFAULT_FORMAT)?.heightIn === 'auto';

/** Whether `@page` rules set the paper size: only when asked for, and no field of the request does. */
export const usesCssPageSize = (fields: PaperFields): boolean =>
  fields.prefer_css_page_size === true &&
  fields.format === undefined &&
  fields.paper_width === undefined &&
  fields.landscape !== true &&
  fields.single_page !== true;

/**
 * The paper size after `landscape`. With `singlePage`, the height is only for layout: that of the
 * default format for `auto`.
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

/** The larger of a side's margin and its header or footer height, with the field's name. */
function marginAt(
  { margin, header, footer }: PaperFields,
  side: Side,
): { name: string; text: string | undefined; marginIn: number } {
  const given = typeof margin === 'object' ? margin[side] : margin;
  const text = given?.toString();
  const name = typeof margin === 'object' || margin === undefined ? `margin.${side}` : 'margin';
  const own = { name, text, marginIn: parseLengthIn(text ?? DEFAULT_MARGIN)! };
  const height = side === 'top' ? header?.height : side === 'bottom' ? footer?.height : undefined;
  const heightIn = height === undefined ? 0 : parseLengthIn(height)!;
  return heightIn > own.marginIn
    ? { name: side === 'top' ? 'header.height' : 'footer.height', text: height, marginIn: heightIn }
    : own;
}

/** The page margins in inches, including header and footer. */
export const marginsOf = (fields: PaperFields) =>
  Object.fromEntries(SIDES.map(side => [side, marginAt(fields, side).marginIn])) as Record<
    Side,
    number
  >;

/** A larger margin without a unit, such as `20`, was probably meant in pixels. */
const MEANT_PIXELS_IN = 5;

/** An error message when less than 0.5 in of the page remains in a direction, else undefined. */
export function contentAreaProblem(fields: PaperFields): string | undefined {
  const paper = paperOf(fields);
  const directions = [
    { sides: ['left', 'right'], lengthIn: paper.widthIn, word: 'wide' },
    // A single page grows with its content up to this height.
    {
      sides: ['top', 'bottom'],
      lengthIn: paper.singlePage ? MAX_SIDE_IN : paper.heightIn,
      word: 'tall',
    },
  ] as const;
  for (const { sides, lengthIn, word } of directions) {
    const margins = sides.map(side => marginAt(fields, side));
    const leftIn = margins.reduce((left, { marginIn }) => left - marginIn, lengthIn);
    if (leftIn >= MIN_SIDE_IN - TOLERANCE_IN) continue;
    const bare = margins
      .map(({ text }) => text)
      .find(text => text && isUnitless(text) && Number(text) >= MEANT_PIXELS_IN);
    const hint = bare ? ` \`${bare}\` is ${inches(Number(bare))}. Did you mean \`${bare}px\`?` : '';
    const names = [...new Set(margins.map(({ name }) => `\`${name}\``))];
    const byDefault = margins.every(({ text }) => text !== undefined)
      ? ''
      : ` (default ${DEFAULT_MARGIN})`;
    return `${names.join(' and ')}${byDefault} ${names.length > 1 ? 'leave' : 'leaves'} less than ${MIN_SIDE_IN} inches of a page that is ${inches(lengthIn)} ${word}.${hint}`;
  }
  return undefined;
}
