// Prints one whole document. What is printed while the page moves on to another fails, or is a document half there: it is printed again.
import type { Page } from './page.ts';
import { type Output, type Printed, print, type Room } from './print.ts';
import { CommandFailed } from './session.ts';

/** A page that loads itself again without end is printed as it is met the last time. */
const PRINTS = 5;

/** As `print`; also rejects as `Movement.loaded` does. It has no limit of its own while every print fails. */
export async function printDocument({ session, plan, movement }: Page, output: Output, room: Room): Promise<Printed> {
  for (let prints = 1; ; ) {
    await movement.loaded();
    const documents = movement.documents();
    const moved = () => movement.documents() !== documents;
    try {
      const printed = await print(session, plan, output, room);
      if (!moved() || prints++ === PRINTS) return printed;
      room.give(printed.pdf.bytes);
    } catch (error) {
      if (!(error instanceof CommandFailed) || !moved()) throw error;
    }
  }
}
