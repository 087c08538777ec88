// Prints the page to PDF and reads it in pieces, bounded. A single page is printed again a little
// taller while it does not fit on its sheet; a document that the page moved away from is printed
// again.
import { invalid, renderFailed } from '../../common/contract/errors.ts';
import { pageCount, readChromePdf } from '../pdf/chrome-pdf.ts';
import { type Budget, type Printed, pdfTooLarge } from '../pdf/printed.ts';
import { CommandFailed, type Session } from '../workers/session.ts';
import { SlotLost } from '../workers/slot-port.ts';
import { headerFooter } from './header-footer.ts';
import type { Page } from './page.ts';
import { applyPageSizeOverrides } from './page-size-overrides.ts';
import type { RenderSettings } from './render-settings.ts';
import {
  boundedHeight,
  freezeViewportUnits,
  MAX_HEIGHT_IN,
  measureSheet,
  type Sheet,
} from './single-page.ts';

/**
 * A page that loads itself again without end is printed so many times, and then until a print is
 * whole.
 */
const PRINTS = 5;
const MAX_PRINTS = 20;
/** A document half there prints less. Prints of the same document differ by some bytes. */
const WHOLE_SHARE = 0.9;

/**
 * As `print`; also rejects as `Navigation.loaded` does. It has no limit of its own while every
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
      budget.give(bytes);
      prints++;
    } catch (error) {
      if (!(error instanceof CommandFailed) || !moved()) throw error;
    }
  }
}

/**
 * Reading in smaller pieces costs round trips; larger ones hold the event loop for longer, two of a
 * mebibyte for 12 ms.
 */
const PIECE_BYTES = 512 * 1024;
/**
 * Asked for together when the first was not the last: one piece is on its way while the other is
 * read.
 */
const READS_AT_ONCE = 2;
/** After this time no further sheet is tried for a single page: the shortest so far is used. */
const SEARCH_MS = 2_500;
const PX_IN = 1 / 96;
/** A search ends when it is this close: in inches, and as a share of the sheet. */
const CLOSE = { inches: 8 * PX_IN, share: 0.01 };

/** What the installation says of every PDF. */
export interface Output {
  maxBytes: number;
  /**
   * Tagging (for screen readers) doubles the time and multiplies the size of large tables, so it is
   * the operator's choice.
   */
  tagged: boolean;
  /**
   * Hears that Chrome has printed: what is asked of the page from now on does not hold the PDF
   * back.
   */
  onPrinted?: (() => void) | undefined;
}

/**
 * Only the end of a PDF tells its last piece without one more read. Others may be some bytes short
 * as well: Chrome ends each where a character of UTF-8 could end, whatever it reads (seen on
 * Chromium 156).
 */
const isLast = (piece: Buffer) =>
  piece.length < PIECE_BYTES &&
  /%%EOF\s*$/.test(piece.toString('latin1', Math.max(0, piece.length - 16)));

/**
 * Takes from the budget for each piece as it arrives. When this rejects, all of it is given back.
 */
async function readPdf(
  session: Session,
  handle: string,
  maxBytes: number,
  budget: Budget,
): Promise<Printed> {
  const pieces: Buffer[] = [];
  let size = 0;
  let taken = 0;
  let over = false;
  const take = (bytes: number) => {
    if (over || !budget.take(bytes)) throw budget.overBudget();
    taken += bytes;
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
        take(piece.length);
        if (piece.length > 0) pieces.push(piece);
        ended ||= eof || isLast(piece);
      }
    }
    const pdf = readChromePdf(pieces);
    return { pdf, pages: pageCount(pdf) };
  }

  try {
    // A read that was asked for is answered or given up only when the socket has closed, which a
    // frozen worker puts off: the pieces go before that.
    const read = await Promise.race([readAll(), session.ended]);
    if ('reason' in read) throw new SlotLost(read.reason, read.message);
    return read;
  } catch (error) {
    over = true;
    pieces.length = 0;
    budget.give(taken);
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
    printBackground: settings.print.printBackground,
    generateTaggedPDF: output.tagged,
    generateDocumentOutline: false,
    transferMode: 'ReturnAsStream',
    ...headerFooter(settings),
    ...(ranges && { pageRanges: ranges }),
  });
  output.onPrinted?.();
  return readPdf(session, stream!, output.maxBytes, budget);
}

/**
 * Prints on the tallest sheet, then on shorter ones. `heightIn`, the content's height on the
 * screen, is too short, mostly by some pixels, so each try adds the geometric mean of the largest
 * addition that was too short and the smallest that was enough.
 */
async function searchSheet(
  print: (heightIn: number) => Promise<Printed>,
  heightIn: number,
  untilMs: number,
  budget: Budget,
): Promise<Printed> {
  let held = await print(MAX_HEIGHT_IN);
  if (held.pages > 1) {
    budget.give(held.pdf.bytes);
    throw renderFailed(
      'output_limit',
      `The content does not fit on one page of at most ${MAX_HEIGHT_IN} in; it may grow with the height of its page. ` +
        'Print it on several pages, or give it a fixed height.',
    );
  }
  let tooShort = PX_IN;
  let enough = MAX_HEIGHT_IN - heightIn;
  try {
    while (
      enough - tooShort > Math.max(CLOSE.inches, (heightIn + enough) * CLOSE.share) &&
      performance.now() < untilMs
    ) {
      const excess = Math.sqrt(tooShort * enough);
      const printed = await print(heightIn + excess);
      const fits = printed.pages === 1;
      budget.give((fits ? held : printed).pdf.bytes);
      if (fits) [held, enough] = [printed, excess];
      else tooShort = excess;
    }
    return held;
  } catch (error) {
    budget.give(held.pdf.bytes);
    throw error;
  }
}

async function printSinglePage(
  session: Session,
  settings: RenderSettings,
  output: Output,
  budget: Budget,
): Promise<Printed> {
  const untilMs = performance.now() + SEARCH_MS;
  const { heightIn, scale } = await measureSheet(session, settings);
  const first = await printOnce(session, settings, { heightIn, scale }, output, budget);
  if (first.pages === 1) return first;
  budget.give(first.pdf.bytes);
  await freezeViewportUnits(session, settings);
  const frozen = await measureSheet(session, settings);
  const printAt = (height: number) =>
    printOnce(session, settings, { ...frozen, heightIn: boundedHeight(height) }, output, budget);
  const second = await printAt(frozen.heightIn + PX_IN);
  if (second.pages === 1) return second;
  budget.give(second.pdf.bytes);
  return searchSheet(printAt, frozen.heightIn, untilMs, budget);
}

/**
 * Throws output_limit, the error of `budget` when that is full, or validation_error when `pages`
 * keeps nothing. The PDF is taken from `budget`.
 */
export async function print(
  session: Session,
  settings: RenderSettings,
  output: Output,
  budget: Budget,
): Promise<Printed> {
  applyPageSizeOverrides(session.command, settings);
  if (settings.singlePage) return printSinglePage(session, settings, output, budget);
  const sheet = { heightIn: settings.paper.heightIn, scale: settings.print.scale };
  try {
    return await printOnce(session, settings, sheet, output, budget);
  } catch (error) {
    if (!(error instanceof CommandFailed) || !/page range/i.test(error.message)) throw error;
    const { pdf, pages } = await printOnce(session, settings, sheet, output, budget, '');
    budget.give(pdf.bytes);
    throw invalid(
      `\`pages\` keeps nothing: the document has ${pages} page${pages === 1 ? '' : 's'}.`,
      error,
    );
  }
}
