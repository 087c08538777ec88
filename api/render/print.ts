// Prints the page to PDF and reads it in pieces, bounded; a single page is printed again a little taller while it does not fit on its sheet.
import { invalid, renderFailed } from '../contract/errors.ts';
import { pageCount } from './pdf/page-count.ts';
import type { Plan } from './plan.ts';
import { CommandFailed, type Session } from './session.ts';
import { boundedHeight, freezeViewportUnits, measureSheet } from './single-page.ts';

/** Reading in smaller pieces costs round trips; larger ones wait in memory as base64. */
const PIECE_BYTES = 1024 * 1024;
/** Asked for together: the answer to the second tells the end of a small PDF in the same round trip. */
const READS_AT_ONCE = 2;
/** Tried in turn: the measured height, the same again once nothing depends on the viewport, then room for what print lays out differently. */
const GROWTH = [1, 1.001, 1.02, 1.25] as const;

/** What the installation says of every PDF. */
export interface Output {
  maxBytes: number;
  /** Tagging (for screen readers) doubles the time and multiplies the size of large tables, so it is the operator's choice. */
  tagged: boolean;
}

export interface Printed {
  pdf: Buffer;
  pages: number;
}

async function readStream(session: Session, handle: string, maxBytes: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let size = 0;
  for (;;) {
    const reads = await Promise.all(Array.from({ length: READS_AT_ONCE }, () => session.command('IO.read', { handle, size: PIECE_BYTES })));
    for (const { data, eof, base64Encoded } of reads) {
      const piece = Buffer.from(data, base64Encoded ? 'base64' : 'latin1');
      size += piece.length;
      if (size > maxBytes)
        throw renderFailed(
          'output_limit',
          `The PDF is larger than ${Math.round(maxBytes / 2 ** 20)} MiB. Print fewer pages, or smaller images.`,
        );
      if (piece.length > 0) pieces.push(piece);
      if (eof) return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces);
    }
  }
}

async function printOnce(session: Session, plan: Plan, heightIn: number, output: Output, ranges = plan.print.pageRanges): Promise<Printed> {
  const { top, right, bottom, left } = plan.print.marginIn;
  const { stream } = await session.command('Page.printToPDF', {
    paperWidth: plan.paper.widthIn,
    paperHeight: heightIn,
    marginTop: top,
    marginRight: right,
    marginBottom: bottom,
    marginLeft: left,
    scale: plan.print.scale,
    printBackground: plan.print.printBackground,
    generateTaggedPDF: output.tagged,
    generateDocumentOutline: false,
    transferMode: 'ReturnAsStream',
    ...(ranges && { pageRanges: ranges }),
  });
  const pdf = await readStream(session, stream!, output.maxBytes);
  return { pdf, pages: pageCount(pdf) };
}

async function printSinglePage(session: Session, plan: Plan, output: Output): Promise<Printed> {
  let measured = await measureSheet(session, plan);
  for (const growth of GROWTH) {
    const printed = await printOnce(session, plan, boundedHeight(measured * growth), output);
    if (printed.pages === 1) return printed;
    if (growth !== 1) continue;
    await freezeViewportUnits(session, plan);
    measured = await measureSheet(session, plan);
  }
  throw renderFailed(
    'output_limit',
    'The content grows with the height of its page, so no single page holds it. Print it on several pages, or give it a height of its own.',
  );
}

/** Throws output_limit, or validation_error when `pages` keeps nothing. */
export async function print(session: Session, plan: Plan, output: Output): Promise<Printed> {
  if (plan.singlePage) return printSinglePage(session, plan, output);
  try {
    return await printOnce(session, plan, plan.paper.heightIn, output);
  } catch (error) {
    if (!(error instanceof CommandFailed) || !/page range/i.test(error.message)) throw error;
    const { pages } = await printOnce(session, plan, plan.paper.heightIn, output, '');
    throw invalid(`\`pages\` keeps nothing: the document has ${pages} page${pages === 1 ? '' : 's'}.`, error);
  }
}
