// Writes html into the blank page, which keeps its own opaque origin.
import type { Session } from '../workers/session.ts';
import { onceInOwnWorld } from './waits.ts';

/**
 * The largest html that is sent in one command. Making its JSON blocks the event loop, and so every
 * other render of the process, for about 2 ms; 10 MB block it for 70 ms and more.
 */
export const WHOLE_CHARS = 256 * 1024;
/**
 * A gateway accepts no other command over 1 MiB, and JSON writes a character in up to six bytes.
 */
export const PIECE_CHARS = 128 * 1024;

const ADD_PIECE = 'piece => void (globalThis.html ??= []).push(piece)';
/** Does what `Page.setDocumentContent` does. */
const WRITE = `() => {
  const text = globalThis.html.join('');
  delete globalThis.html;
  document.open();
  document.write(text);
  document.close();
}`;

const isFirstHalf = (unit: number) => (unit & 0xfc00) === 0xd800;

/** Pure. Never splits a surrogate pair, since half of one is lost in transfer. */
export function* inPieces(html: string): Generator<string> {
  for (let at = 0, end = 0; at < html.length; at = end) {
    end = at + PIECE_CHARS;
    if (isFirstHalf(html.charCodeAt(end - 1))) end -= 1;
    yield html.slice(at, end);
  }
}

/** Resolves when all of it is written; its resources may still be loading. */
export async function openHtml(session: Session, html: string): Promise<void> {
  if (html.length <= WHOLE_CHARS) {
    await session.command('Page.setDocumentContent', { frameId: session.frameId, html });
    return;
  }
  for (const piece of inPieces(html)) await onceInOwnWorld<void>(session, ADD_PIECE, piece);
  await onceInOwnWorld<void>(session, WRITE);
}
