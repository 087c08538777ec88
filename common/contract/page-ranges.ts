// Page ranges such as `1-3, 5, 7-`: parses them and formats them for Chrome.

/** `to` is Infinity for "to the end". */
export interface PageRange {
  from: number;
  to: number;
}

const PAGE = '[1-9]\\d*';
const PART = ` *${PAGE} *(?:- *(?:${PAGE})? *)?`;

/** The pattern in the OpenAPI document. */
export const PAGES_PATTERN = `^${PART}(?:,${PART})*$`;
/** Far more than needed; limits the work of one request. */
export const MAX_PAGES_LENGTH = 4_096;

/** Chrome reads page numbers as 32-bit integers. No document has this many pages. */
const LAST_PAGE = 999_999_999;
const pageNumber = (digits: string) => Math.min(Number(digits), LAST_PAGE);

/** Compares digits as text, because JavaScript numbers are exact only to about 16 digits. */
const isAtMost = (a: string, b: string) => (a.length === b.length ? a <= b : a.length < b.length);

const RANGE = new RegExp(`^(${PAGE})(?:(-)(${PAGE})?)?$`);

function parseRange(text: string): PageRange | undefined {
  const [, first, hyphen, last] = RANGE.exec(text) ?? [];
  if (first === undefined || (last !== undefined && !isAtMost(first, last))) return undefined;
  const from = pageNumber(first);
  if (last !== undefined) return { from, to: pageNumber(last) };
  return { from, to: hyphen === undefined ? from : Number.POSITIVE_INFINITY };
}

/**
 * Parses comma-separated `n`, `n-m` (n <= m) and `n-` to ranges in document order and merges ranges
 * that overlap or touch. Undefined for anything else (`0`, `3-1`, `-3`, `1,,2`, empty) and for
 * texts longer than MAX_PAGES_LENGTH.
 */
export function parsePages(text: string): PageRange[] | undefined {
  if (text.length > MAX_PAGES_LENGTH || /\d +\d/.test(text)) return undefined;
  const ranges = text.replaceAll(' ', '').split(',').map(parseRange);
  if (!ranges.every(range => range !== undefined)) return undefined;
  const merged: PageRange[] = [];
  for (const range of ranges.sort((a, b) => a.from - b.from)) {
    const last = merged.at(-1);
    if (last && range.from <= last.to + 1) last.to = Math.max(last.to, range.to);
    else merged.push(range);
  }
  return merged;
}

const rangeText = ({ from, to }: PageRange) =>
  from === to ? `${from}` : `${from}-${Number.isFinite(to) ? to : ''}`;

/** The ranges as the `pageRanges` of `Page.printToPDF`. */
export const pageRangesText = (ranges: PageRange[]): string => ranges.map(rangeText).join(',');
