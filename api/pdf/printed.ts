// What printing returns and finishing needs: the PDF, its metadata, and the budget for its bytes.
import { type ApiError, renderFailed } from '../../common/contract/errors.ts';
import type { ChromePdf } from './chrome-pdf.ts';

/** The memory budget that a PDF counts in while this process holds it. */
export interface Budget {
  /** Returns false and reserves nothing when the budget is exhausted. */
  reserve(bytes: number): boolean;
  release(bytes: number): void;
  /** The error for the caller after `reserve` returned false. */
  overBudget(): ApiError;
}

export interface Printed {
  /** As Chrome wrote it, still in the pieces in which it came. */
  pdf: ChromePdf;
  pages: number;
}

export const pdfTooLarge = (maxBytes: number) =>
  renderFailed(
    'output_limit',
    `The PDF is larger than ${Math.round(maxBytes / 2 ** 20)} MiB. Print fewer pages or use smaller images.`,
  );

/** Written into the PDF. What is absent stays as Chrome wrote it. */
export interface PdfMetadata {
  title?: string;
  author?: string;
  subject?: string;
  keywords?: string;
}
