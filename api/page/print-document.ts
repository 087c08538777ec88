// Prints one whole document. What is printed while the page moves on to another fails, or is a document half there: it is printed again.

import type { Printed, Room } from '../pdf/printed.ts';
import { CommandFailed } from '../workers/session.ts';
import type { Page } from './page.ts';
import { type Output, print } from './print.ts';

/** A page that loads itself again without end is printed so many times, and then until a print is whole. */
const PRINTS = 5;
const MAX_PRINTS = 20;
/** A document half there prints less. Prints of the same document differ by some bytes. */
const WHOLE_SHARE = 0.9;

/** As `print`; also rejects as `Movement.loaded` does. It has no limit of its own while every print fails. */
export async function printDocument({ session, plan, movement }: Page, output: Output, room: Room): Promise<Printed> {
  let largestBytes = 0;
  for (let prints = 1; ; ) {
    await movement.loaded();
    const documents = movement.documents();
    const moved = () => movement.documents() !== documents;
    try {
      const printed = await print(session, plan, output, room);
      const { bytes } = printed.pdf;
      largestBytes = Math.max(largestBytes, bytes);
      const isWhole = bytes >= WHOLE_SHARE * largestBytes;
      if (!moved() || (prints >= PRINTS && isWhole) || prints === MAX_PRINTS) return printed;
      room.give(bytes);
      prints++;
    } catch (error) {
      if (!(error instanceof CommandFailed) || !moved()) throw error;
    }
  }
}
