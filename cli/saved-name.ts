// The names of PDFs that commands save.
import { pdfFilename } from '../api/pdf/filename.ts';

/** File systems allow this for the whole name. */
const MAX_NAME_BYTES = 255;
const SUFFIX = '.pdf';

/** Ends before a character that does not fit. */
const firstBytes = (text: string, bytes: number): string =>
  new TextDecoder().decode(Buffer.from(text).subarray(0, bytes), { stream: true });

/** The name that the API gives a PDF, without `.pdf`, in at most so many bytes. */
export const savedStem = (
  text: string | undefined,
  maxBytes = MAX_NAME_BYTES - SUFFIX.length,
): string => firstBytes(pdfFilename(text).slice(0, -SUFFIX.length), maxBytes);

export const savedName = (text: string | undefined): string => `${savedStem(text)}${SUFFIX}`;
