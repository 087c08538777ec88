// What printing gives, and what finishing needs to know of it: the PDF, its metadata, and where its
// bytes count.
import { type ApiError, renderFailed } from '../../common/contract/errors.ts';
import type { ChromePdf } from './chrome-pdf.ts';

/** Where a PDF counts while this process holds it. */
export interface Budget {
  /** False, and nothing taken, when there is no room for so many bytes more. */
  take(bytes: number): boolean;
  give(bytes: number): void;
  /** The error for the caller after a refusal. */
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
