// The page of a slot: a fresh browser context with one blank page and its guard, opened ahead of
// need and destroyed after one render.
import type { EgressDenied, EgressRefused, SlotEnd } from '../../common/protocol.ts';
import type { EgressPolicy } from '../../common/ticket.ts';
import { type CdpPipe, CRASHED, eventOf, isProcessGone } from './cdp-pipe.ts';
import type { Chrome } from './chrome.ts';

/** What a slot needs of the egress guard (worker/egress/proxy.ts opens the real one). */
export interface SlotGuard {
  readonly port: number;
  admit(policy: EgressPolicy): void;
  onDenied(listener: (denied: EgressDenied) => void): void;
  onRefused(listener: (refused: EgressRefused) => void): void;
  /** Refuses everything at once, and gives the port back when `unused` has settled. */
  close(unused?: Promise<unknown>): Promise<void>;
}

/** A fresh browser context with one blank page and its guard. It serves one render. */
export interface SlotPage {
  /** The number of its slot, from 1. */
  readonly slot: number;
  readonly pipe: CdpPipe;
  readonly sessionId: string;
  readonly frameId: string;
  readonly guard: SlotGuard;
  /** True from the claim until the release. */
  claimed: boolean;
  /** Whether the process of the page, when it crashed, was close to its memory limit. */
  nearMemoryLimit(): boolean;
  /** Replaces a Chrome that is of no use any more; the render in it is tried elsewhere. */
  replaceChrome(message: string): void;
  /** Set by the slot socket. Called once when the worker ends the render on its own. */
  onEnd: ((reason: SlotEnd, message: string) => void) | undefined;
}

/** The page and Chrome's names for what it is made of. */
export interface OpenPage extends SlotPage {
  readonly browserContextId: string;
  readonly windowId: number;
  /** Settles at the release, with why the Chrome cannot be trusted after it. */
  readonly over: PromiseWithResolvers<Error | undefined>;
  /** Settles when the context and its guard are gone. */
  readonly gone: PromiseWithResolvers<void>;
}

/**
 * Seconds for a page to open. They are counted, not measured: a worker that stood still itself must
 * not blame its Chrome.
 */
const OPEN_S = 10;
async function countedSeconds<T>(limitS: number, work: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  let seconds = 0;
  const timer = setInterval(
    () => ++seconds >= limitS && late.reject(new Error(`Chrome opened no page within ${limitS} s`)),
    1_000,
  );
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearInterval(timer);
  }
}

interface PageDeps {
  /** The slot's number. */
  slot: number;
  chrome: Chrome;
  openGuard(): Promise<SlotGuard>;
  nearMemoryLimit(): boolean;
  replaceChrome(message: string): void;
  /** Called when the page's process dies before the page is claimed. */
  onCrash(): void;
}

async function buildPage(
  { slot, chrome: { pipe }, nearMemoryLimit, replaceChrome, onCrash }: PageDeps,
  guard: SlotGuard,
): Promise<OpenPage> {
  const { browserContextId } = await pipe.command<{ browserContextId: string }>(
    'Target.createBrowserContext',
    {
      proxyServer: `http://127.0.0.1:${guard.port}`,
      proxyBypassList: '<-loopback>',
      disposeOnDetach: true,
    },
  );
  const [{ targetId }] = await Promise.all([
    pipe.command<{ targetId: string }>('Target.createTarget', {
      url: 'about:blank',
      browserContextId,
      windowState: 'minimized',
    }),
    pipe.command('Browser.setDownloadBehavior', { behavior: 'deny', browserContextId }),
  ]);
  const [{ sessionId }, { windowId }] = await Promise.all([
    pipe.command<{ sessionId: string }>('Target.attachToTarget', { targetId, flatten: true }),
    pipe.command<{ windowId: number }>('Browser.getWindowForTarget', { targetId }),
  ]);
  pipe.route(sessionId, frame => {
    const event = eventOf(frame);
    if (event === CRASHED || isProcessGone(event, frame)) onCrash();
  });
  await pipe.command('Page.enable', {}, sessionId);
  return {
    slot,
    pipe,
    sessionId,
    frameId: targetId,
    guard,
    claimed: false,
    nearMemoryLimit,
    replaceChrome,
    onEnd: undefined,
    browserContextId,
    windowId,
    over: Promise.withResolvers(),
    gone: Promise.withResolvers(),
  };
}

/** Rejects when Chrome refuses, ends, or takes too long. */
export async function openPage(deps: PageDeps): Promise<OpenPage> {
  const guard = await deps.openGuard();
  try {
    return await countedSeconds(OPEN_S, buildPage(deps, guard));
  } catch (error) {
    await guard.close();
    throw error;
  }
}

/**
 * Shows the page, which is hidden and makes no screen frames until then. Not waited for: Chrome
 * shows it before it does what is sent after.
 */
export function showPage(page: SlotPage): void {
  const bounds = { windowId: (page as OpenPage).windowId, bounds: { windowState: 'normal' } };
  // it fails with the page, which is reported in other ways
  page.pipe.command('Browser.setWindowBounds', bounds).catch(() => {});
}

/** Destroys the context. Rejects when Chrome does not do it in time. */
export const disposeContext = ({ pipe, browserContextId }: OpenPage): Promise<unknown> =>
  countedSeconds(OPEN_S, pipe.command('Target.disposeBrowserContext', { browserContextId }));
