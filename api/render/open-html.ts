// Writes html into the blank page, which keeps its own opaque origin.
import type { Session } from './session.ts';
import { onceInOwnWorld } from './waits.ts';

/**
 * In one command: its JSON takes about 2 ms of the event loop, which every other render of the process waits for. That of
 * 10 MB takes 70 ms and more.
 */
export const WHOLE_CHARS = 256 * 1024;
/** A gateway takes no other command of more than 1 MiB, and JSON writes a character in up to six bytes. */
export const PIECE_CHARS = 128 * 1024;

const ADD_PIECE = 'piece => void (globalThis.html ??= []).push(piece)';
/** What `Page.setDocumentContent` does with a text. */
const WRITE = `() => {
  const text = globalThis.html.join('');
  delete globalThis.html;
  document.open();
  document.write(text);
  document.close();
}`;

const isFirstHalf = (unit: number) => (unit & 0xfc00) === 0xd800;

/** Pure. Cuts no character in two, since half of a surrogate pair does not survive as a text of its own. */
export function* inPieces(html: string): Generator<string> {
  for (let at = 0, end = 0; at < html.length; at = end) {
    end = at + PIECE_CHARS;
    if (isFirstHalf(html.charCodeAt(end - 1))) end -= 1;
    yield html.slice(at, end);
  }
}

/** Resolves when all of it is written; what it loads may still be on its way. */
export async function openHtml(session: Session, html: string): Promise<void> {
  if (html.length <= WHOLE_CHARS) {
    await session.command('Page.setDocumentContent', { frameId: session.frameId, html });
    return;
  }
  for (const piece of inPieces(html)) await onceInOwnWorld<void>(session, ADD_PIECE, piece);
  await onceInOwnWorld<void>(session, WRITE);
}
