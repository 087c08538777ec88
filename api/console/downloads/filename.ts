// The file name of a PDF, from its title, safe for file systems and headers. Pure.

const MAX_CHARACTERS = 80;
/** Windows treats these as devices, whatever follows the first dot. */
const DEVICES = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i;

/**
 * `title`: the request's `metadata.title`. Keeps the letters of every script and replaces other
 * characters with a dash. Always ends in `.pdf`.
 */
export function pdfFilename(title: string | undefined): string {
  const name = (title ?? '')
    .toWellFormed()
    .normalize('NFC')
    .replace(/\.pdf$/i, '')
    .replace(/[^\p{L}\p{M}\p{N}._ -]+/gu, '-')
    .replace(/\s+/g, ' ')
    .replace(/\.{2,}/g, '.');
  const cut = [...name]
    .slice(0, MAX_CHARACTERS)
    .join('')
    .replace(/^[-. ]+|[-. ]+$/g, '');
  return cut === '' || DEVICES.test(cut) ? 'render.pdf' : `${cut}.pdf`;
}
