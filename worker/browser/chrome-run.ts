// One Chrome of a slot while it is in service, and when it is worn.
import type { Log } from '../../common/log.ts';
import type { Chrome } from './chrome.ts';
import { ChromeEnd } from './chrome-end.ts';
import type { OpenPage } from './slot-page.ts';
import { type SlotLimits, Watchdog } from './watchdog.ts';

export interface ChromeRun {
  readonly chrome: Chrome;
  readonly startedMs: number;
  readonly watchdog: Watchdog;
  /** Rejects once, with ChromeEnd. */
  readonly ended: PromiseWithResolvers<never>;
  renders: number;
  /** The page that is opening. */
  opening: Promise<OpenPage> | undefined;
  /** The account of its last render; undefined: none yet; null: unknown. */
  account: string | null | undefined;
  /** Resolves when the claimed page is released, with the reason to replace the Chrome. */
  released: PromiseWithResolvers<ChromeEnd | undefined>;
}

interface RunDeps {
  limits: SlotLimits;
  /** The session of the page that waits for a render, if there is one. */
  waiting(): string | undefined;
  retire(end: ChromeEnd): void;
  /** A page has closed. */
  onDetached(sessionId: unknown): void;
  log: Log;
}

export function startRun(
  chrome: Chrome,
  { limits, waiting, retire, onDetached, log }: RunDeps,
): ChromeRun {
  const ended = Promise.withResolvers<never>();
  ended.promise.catch(() => {});
  void chrome.exited.then(how => retire(new ChromeEnd('exited', how)));
  chrome.pipe.onBrowserEvent((method, { sessionId }) => {
    if (method === 'Target.detachedFromTarget') onDetached(sessionId);
  });
  return {
    chrome,
    startedMs: performance.now(),
    watchdog: new Watchdog({
      chrome,
      limits,
      waiting,
      retire: (fault, message) => retire(new ChromeEnd(fault, message)),
      log,
    }),
    ended,
    renders: 0,
    opening: undefined,
    account: undefined,
    released: Promise.withResolvers(),
  };
}

/** Throws ChromeEnd when this Chrome must not serve another render after this one. */
export function checkAfterRender(
  { chrome, renders, watchdog }: ChromeRun,
  slot: number,
  { recycleRenders, recycleBytes }: SlotLimits,
): void {
  if (watchdog.reniced()) throw new ChromeEnd('bound', 'its priority was lowered');
  if (chrome.pipe.overBudget()) throw new ChromeEnd('bound', 'its event budget was exceeded');
  // Slots are used evenly, so their limits differ: not all of them restart at the same time.
  const earlier = Math.floor(recycleRenders / 100) * ((slot - 1) % 10);
  if (renders >= recycleRenders - earlier)
    throw new ChromeEnd('recycle', `it has served ${renders} renders`);
  const grownBytes = watchdog.grownBytes();
  if (grownBytes > recycleBytes)
    throw new ChromeEnd('recycle', `it has grown by ${Math.round(grownBytes / 2 ** 20)} MiB`);
}
