// Where the page is on its way from document to document, from the first to the print: a page may
// move on at any time, by script, refresh or form.
import { renderFailed } from '../../common/contract/errors.ts';
import type { Session } from '../workers/session.ts';

export interface ScriptNavigation {
  /**
   * Resolves when no move is under way: at the new document's load event, or when nothing came of
   * it (a download, an empty answer).
   */
  settled(): Promise<void>;
}

/**
 * Watches from now on, on a page whose load event is over. Chrome tells of a move that a script
 * begins before it answers for the script.
 */
export function watchScriptNavigation(session: Session): ScriptNavigation {
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

export interface Navigation {
  /** Main documents that have begun so far. */
  documents(): number;
  /**
   * Resolves when the document that is there has loaded, or one that has followed it meanwhile;
   * stopping by its own will (`window.stop()`) is as good. Rejects with render_failed when it was
   * cut off by going on to something that is no page.
   */
  loaded(): Promise<void>;
}

const CUT_OFF =
  'The page could not be opened: it went on to something that is no page (a download, an empty answer, an address for another program) before it had loaded.';

export function watchNavigation(session: Session): Navigation {
  let documents = 0;
  let leaving = false;
  let isLoaded = false;
  const newPromise = () => {
    const made = Promise.withResolvers<void>();
    made.promise.catch(() => {}); // nobody may be waiting for it
    return made;
  };
  let loaded = newPromise();
  const settle = () => {
    isLoaded = true;
    loaded.resolve();
  };
  const isMain = (frameId: string) => frameId === session.frameId;

  session.on('Page.frameNavigated', ({ frame }) => {
    if (!isMain(frame.id)) return;
    documents++;
    leaving = false;
    if (isLoaded) loaded = newPromise();
    isLoaded = false;
  });
  session.on('Page.frameRequestedNavigation', ({ frameId, disposition }) => {
    leaving ||= isMain(frameId) && disposition === 'currentTab';
  });
  session.on('Page.loadEventFired', settle);
  // It comes after the load event of what was navigated to, or instead of it. Html that was written
  // into the blank page is not told of, but each step in its history is.
  session.on('Page.frameStoppedLoading', ({ frameId }) => {
    if (!isMain(frameId)) return;
    if (leaving) loaded.reject(renderFailed('page_unreachable', CUT_OFF));
    else if (documents > 0) settle();
  });

  return { documents: () => documents, loaded: () => loaded.promise };
}
