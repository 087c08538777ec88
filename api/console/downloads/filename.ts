// The name under which a PDF is saved: of its title, and nothing in it that a file system or a
// header could take for more than a name. Pure.

const MAX_CHARACTERS = 80;
/** Windows takes these for devices, whatever follows the first dot. */
const DEVICES = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i;

/**
 * `title`: what the request calls the document, if it does. Letters of every script stay; all else
 * becomes a dash. Always ends in `.pdf`.
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
