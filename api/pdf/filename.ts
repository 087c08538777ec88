// The file name of a PDF, safe for file systems and headers. Pure.
import { MAX_FILENAME_LENGTH } from '../../common/contract/fields.ts';

/** Windows treats these as devices, whatever follows the first dot. */
const DEVICES = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i;

/**
 * `text`: the request's `filename`, or a title. Keeps the letters of every script, currency signs
 * and common punctuation; other characters become a dash. Always ends in `.pdf`.
 */
export function pdfFilename(text: string | undefined): string {
  const name = (text ?? '')
    .toWellFormed()
    .normalize('NFC')
    .replace(/\.pdf$/i, '')
    .replace(/[^\p{L}\p{M}\p{N}\p{Sc}._ ()[\],+&@'-]+/gu, '-')
    .replace(/\s+/g, ' ')
    .replace(/\.{2,}/g, '.');
  const cut = [...name]
    .slice(0, MAX_FILENAME_LENGTH)
    .join('')
    .replace(/^[-. ]+|[-. ]+$/g, '');
  return cut === '' || DEVICES.test(cut) ? 'render.pdf' : `${cut}.pdf`;
}

/** The name in ASCII, for clients that read only `filename` of the header, not `filename*`. */
export const asciiFilename = (filename: string): string =>
  filename
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^\x20-\x7e]/g, '_');
