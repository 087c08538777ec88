// Prints the page to PDF and reads it in pieces, bounded. A single page is printed again a little
// taller while it does not fit on its sheet; a document that the page moved away from is printed
// again.

import { invalid, renderFailed } from '../../common/contract/errors.ts';
import { MAX_SIDE_IN, NAMED_FORMATS, SIDES } from '../../common/contract/paper.ts';
import { longestSideIn, pageCount, readChromePdf } from '../pdf/chrome-pdf.ts';
import { type Budget, type Printed, pdfTooLarge } from '../pdf/printed.ts';
import { type Command, CommandFailed, type Session } from '../workers/session.ts';
import { SlotLost } from '../workers/slot-port.ts';
import { hasTemplates, headerFooter } from './header-footer.ts';
import type { Page } from './page.ts';
import type { RenderSettings } from './render-settings.ts';
import { printSinglePage, type Sheet } from './single-page.ts';

/** Possible sources of @page rules that the HTML does not show. */
const ELSEWHERE = /<link|@import|\\/i;
/**
 * Both match up to where the next match may begin, so that a hostile page cannot cause quadratic
 * time.
 */
const SCRIPT_TAG = /<script[^>]*/gi;
const PAGE_RULE = /@page[^{]*(?:\{[^}]*)?/gi;
const SIZE_ALONE = /^@page\s*\{\s*size:\s*(\w+)\s*(?:;\s*)?$/i;

/** Whether a rule only names the size that the sheet has anyway, as most print documents do. */
function hasSheetSize(rule: string, { widthIn, heightIn }: RenderSettings['paper']): boolean {
  const name = SIZE_ALONE.exec(rule)?.[1]?.toLowerCase();
  const format = Object.entries(NAMED_FORMATS).find(([each]) => each.toLowerCase() === name)?.[1];
  return format?.widthIn === widthIn && format.heightIn === heightIn;
}

/**
 * Whether the page may have @page rules to override, which costs a twentieth of a small render.
 */
function mayHaveRules({ source, css, javascript, paper }: RenderSettings): boolean {
  if (source.kind === 'url' || css || javascript || ELSEWHERE.test(source.html)) return true;
  if (source.html.matchAll(SCRIPT_TAG).some(([tag]) => /\ssrc/i.test(tag))) return true;
  return source.html
    .matchAll(PAGE_RULE)
    .some(([rule]) => rule.includes('{') && !hasSheetSize(rule, paper));
}

/** The overrides as CSS; undefined when none are needed. Pure. */
export function pageSizeOverrides(settings: RenderSettings): string | undefined {
  const { singlePage, cssPageSize, print } = settings;
  if (!singlePage && !mayHaveRules(settings)) return undefined;
  const margin = SIDES.map(side => `${print.marginIn[side]}in`).join(' ');
  const rules = [
    ...(cssPageSize ? [] : ['size:auto!important']),
    ...(singlePage || print.marginsHold ? [`margin:${margin}!important`] : []),
  ];
  if (rules.length === 0) return undefined;
  const page = `@page{${rules.join(';')}}`;
  return singlePage
    ? `${page}*,::before,::after{break-before:auto!important;break-after:auto!important;page:auto!important}`
    : page;
}

/**
 * In Chromium 156 an important declaration in the page's @page rule wins over any other, so those
 * that are overridden are made normal ones. Sheets of other origins cannot be read.
 */
const IMPOSE = `css => {
  const added = new CSSStyleSheet();
  added.replaceSync(css);
  document.adoptedStyleSheets.push(added);
  const overridden = [...added.cssRules[0].style];
  const soften = rules => {
    for (const rule of rules) {
      if (rule instanceof CSSGroupingRule) soften(rule.cssRules);
      if (!(rule instanceof CSSPageRule)) continue;
      for (const name of overridden) {
        const value = rule.style.getPropertyValue(name);
        if (value) rule.style.setProperty(name, value);
      }
    }
  };
  for (const sheet of document.styleSheets) {
    try {
      soften(sheet.cssRules);
    } catch {}
  }
}`;

/**
 * At another scale than 1, Chromium 156 prints an empty page when the root is written from right to
 * left, but not when only the body is. Selectors that look at `dir` match as before.
 */
const MOVE_DIRECTION = `() => {
  const { documentElement: root, body } = document;
  if (!body || getComputedStyle(root).direction !== 'rtl') return;
  body.style.setProperty('direction', getComputedStyle(body).direction, 'important');
  root.style.setProperty('direction', 'ltr', 'important');
}`;

/**
 * Chrome runs a session's commands in order, so this is not awaited. A page that broke these
 * globals is printed by its own rules.
 */
export function applyPageSizeOverrides(command: Command, settings: RenderSettings): void {
  const run = (expression: string) =>
    void command('Runtime.evaluate', { expression }).catch(() => {});
  if (settings.singlePage || settings.print.scale !== 1) run(`(${MOVE_DIRECTION})()`);
  const css = pageSizeOverrides(settings);
  if (css !== undefined) run(`(${IMPOSE})(${JSON.stringify(css)})`);
}

/**
 * A page that reloads itself without end is printed this many times, and then until a print is
 * complete.
 */
const PRINTS = 5;
const MAX_PRINTS = 20;
/** An incomplete document prints less. Prints of the same document differ by some bytes. */
const WHOLE_SHARE = 0.9;

/**
 * Like `print`, but also rejects as `Navigation.loaded` does. Has no limit of its own while every
 * print fails.
 */
export async function printDocument(
  { session, settings, navigation }: Page,
  output: Output,
  budget: Budget,
): Promise<Printed> {
  let largestBytes = 0;
  for (let prints = 1; ; ) {
    await navigation.loaded();
    const documents = navigation.documents();
    const moved = () => navigation.documents() !== documents;
    try {
      const printed = await print(session, settings, output, budget);
      const { bytes } = printed.pdf;
      largestBytes = Math.max(largestBytes, bytes);
      const isWhole = bytes >= WHOLE_SHARE * largestBytes;
      if (!moved() || (prints >= PRINTS && isWhole) || prints === MAX_PRINTS) return printed;
      budget.release(bytes);
      prints++;
    } catch (error) {
      if (!(error instanceof CommandFailed) || !moved()) throw error;
    }
  }
}

/**
 * Smaller pieces cost round trips; larger ones block the event loop longer, two of 1 MiB for 12 ms.
 */
const PIECE_BYTES = 512 * 1024;
/**
 * Concurrent reads after the first piece: one is in transit while the other is processed.
 */
const READS_AT_ONCE = 2;
/** Settings of the installation for every PDF. */
export interface Output {
  maxBytes: number;
  /**
   * Tagging (for screen readers) doubles the time and multiplies the size of large tables, so it is
   * the operator's choice.
   */
  tagged: boolean;
  /**
   * Called when Chrome has printed: further commands to the page no longer delay the PDF.
   */
  onPrinted?: (() => void) | undefined;
}

/**
 * Whether this is the last piece, which only its end shows without one more read: other pieces may
 * be some bytes short too (Chromium 156).
 */
const isLast = (piece: Buffer) =>
  piece.length < PIECE_BYTES &&
  /%%EOF\s*$/.test(piece.toString('latin1', Math.max(0, piece.length - 16)));

/**
 * Takes each piece from the budget as it arrives. Releases all of them when it rejects.
 */
async function readPdf(
  session: Session,
  handle: string,
  maxBytes: number,
  budget: Budget,
): Promise<Printed> {
  const pieces: Buffer[] = [];
  let size = 0;
  let reserved = 0;
  let over = false;
  const reserve = (bytes: number) => {
    if (over || !budget.reserve(bytes)) throw budget.overBudget();
    reserved += bytes;
  };

  async function readAll(): Promise<Printed> {
    for (let [ended, count] = [false, 1]; !ended; count = READS_AT_ONCE) {
      const asked = Array.from({ length: count }, () =>
        session.command('IO.read', { handle, size: PIECE_BYTES }),
      );
      for (const { data, eof, base64Encoded } of await Promise.all(asked)) {
        const piece = Buffer.from(data, base64Encoded ? 'base64' : 'latin1');
        size += piece.length;
        if (size > maxBytes) throw pdfTooLarge(maxBytes);
        reserve(piece.length);
        if (piece.length > 0) pieces.push(piece);
        ended ||= eof || isLast(piece);
      }
    }
    // A sealed page may be kept, and the stream with it.
    if (session.sealed) await session.command('IO.close', { handle });
    const pdf = readChromePdf(pieces);
    return { pdf, pages: pageCount(pdf) };
  }

  try {
    // A pending read may end only with the socket, which a frozen worker delays: release the pieces
    // at the end of the session.
    const read = await Promise.race([readAll(), session.ended]);
    if ('reason' in read) throw new SlotLost(read.reason, read.message);
    return read;
  } catch (error) {
    over = true;
    pieces.length = 0;
    budget.release(reserved);
    throw error;
  }
}

async function printOnce(
  session: Session,
  settings: RenderSettings,
  { heightIn, scale }: Sheet,
  output: Output,
  budget: Budget,
  ranges = settings.print.pageRanges,
): Promise<Printed> {
  const { top, right, bottom, left } = settings.print.marginIn;
  const { stream } = await session.command('Page.printToPDF', {
    paperWidth: settings.paper.widthIn,
    paperHeight: heightIn,
    marginTop: top,
    marginRight: right,
    marginBottom: bottom,
    marginLeft: left,
    scale,
    preferCSSPageSize: settings.cssPageSize,
    printBackground: settings.print.printBackground,
    generateTaggedPDF: output.tagged,
    generateDocumentOutline: false,
    transferMode: 'ReturnAsStream',
    ...(hasTemplates(settings) && headerFooter(settings)),
    ...(ranges && { pageRanges: ranges }),
  });
  output.onPrinted?.();
  return readPdf(session, stream!, output.maxBytes, budget);
}

/** PDF readers and printers cannot use larger pages. A tenth of an inch is for rounding. */
function checkPageSizes({ pdf }: Printed, budget: Budget): void {
  const sideIn = longestSideIn(pdf);
  if (sideIn <= MAX_SIDE_IN + 0.1) return;
  budget.release(pdf.bytes);
  throw renderFailed(
    'output_limit',
    `A page is ${sideIn.toFixed(1)} in long. Make the sizes of \`@page\` rules at most ${MAX_SIDE_IN} in, or remove \`prefer_css_page_size\`.`,
  );
}

/**
 * Throws output_limit, the error of `budget` when that is full, or validation_error when `pages`
 * matches no pages. The PDF is taken from `budget`.
 */
export async function print(
  session: Session,
  settings: RenderSettings,
  output: Output,
  budget: Budget,
): Promise<Printed> {
  applyPageSizeOverrides(session.command, settings);
  const printOn = (sheet: Sheet, ranges?: string) =>
    printOnce(session, settings, sheet, output, budget, ranges);
  if (settings.singlePage) return printSinglePage(session, settings, printOn, budget);
  const sheet = { heightIn: settings.paper.heightIn, scale: settings.print.scale };
  try {
    const printed = await printOn(sheet);
    if (settings.cssPageSize) checkPageSizes(printed, budget);
    return printed;
  } catch (error) {
    if (!(error instanceof CommandFailed) || !/page range/i.test(error.message)) throw error;
    const { pdf, pages } = await printOn(sheet, '');
    budget.release(pdf.bytes);
    throw invalid(
      `\`pages\` matches no pages: the document has ${pages} page${pages === 1 ? '' : 's'}.`,
      error,
    );
  }
}
