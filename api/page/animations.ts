// Brings the CSS animations and transitions of a page to their end.
import type { Page } from './page.ts';
import { inOwnWorld } from './waits.ts';

/** In an isolated world. An animation without an end cannot be finished and stays as it is. */
const FINISH = `() => {
  const finish = root => {
    for (const animation of root.getAnimations()) {
      try {
        animation.finish();
      } catch {}
    }
    for (const frame of root.querySelectorAll('iframe')) if (frame.contentDocument) finish(frame.contentDocument);
  };
  finish(document);
}`;

export const finishAnimations = ({ session }: Page): Promise<void> =>
  inOwnWorld<void>(session, FINISH);
