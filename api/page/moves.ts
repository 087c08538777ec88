// Whether the page is on its way to another document, from Chrome's events about its main frame.
import type { Session } from '../workers/session.ts';

export interface Moves {
  /** Resolves when no move is under way: at the new document's load event, or when nothing came of it (a download, an empty answer). */
  settled(): Promise<void>;
}

/** Watches from now on, on a page whose load event is over. Chrome tells of a move that a script begins before it answers for the script. */
export function watchMoves(session: Session): Moves {
  let state: 'still' | 'asked' | 'loading' = 'still';
  let onStill = () => {};
  const isMain = (frameId: string) => frameId === session.frameId;

  session.on('Page.frameRequestedNavigation', ({ frameId, disposition }) => {
    if (isMain(frameId) && disposition === 'currentTab') state = 'asked';
  });
  session.on('Page.frameStartedNavigating', ({ frameId, navigationType }) => {
    if (isMain(frameId) && !/samedocument/i.test(navigationType)) state = 'loading';
  });
  session.on('Page.frameStoppedLoading', ({ frameId }) => {
    if (!isMain(frameId) || state !== 'loading') return;
    state = 'still';
    onStill();
  });

  return {
    settled: () =>
      new Promise(resolve => {
        if (state === 'still') return resolve();
        onStill = resolve;
      }),
  };
}
