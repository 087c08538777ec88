// The page of a slot: a fresh browser context with one blank page and its guard, opened in advance
// and destroyed after one render.
import type { EgressDenied, EgressTarget, SlotEnd, Unreachable } from '../../common/protocol.ts';
import type { EgressPolicy } from '../../common/ticket.ts';
import { type CdpPipe, CRASHED, eventOf, isProcessGone } from './cdp-pipe.ts';
import type { Chrome } from './chrome.ts';

/** The egress guard as a slot uses it (implemented by worker/egress/proxy.ts). */
export interface SlotGuard {
  readonly port: number;
  admit(policy: EgressPolicy): void;
  onDenied(listener: (denied: EgressDenied) => void): void;
  onUnreachable(listener: (target: EgressTarget, how: Unreachable) => void): void;
  /** Refuses all traffic immediately and releases the port after `unused` has settled. */
  close(unused?: Promise<unknown>): Promise<void>;
}

/** A fresh browser context with one blank page and its guard. It serves one render. */
export interface SlotPage {
  /** The slot's number, from 1. */
  readonly slot: number;
  readonly pipe: CdpPipe;
  readonly sessionId: string;
  readonly frameId: string;
  readonly guard: SlotGuard;
  /** True from the claim until the release. */
  claimed: boolean;
  /** No script runs in it, and its guard blocks everything. */
  sealed: boolean;
  /** Whether the page was close to its memory limit, asked after a crash. */
  nearMemoryLimit(): boolean;
  /** Replaces an unusable Chrome; its render is retried in another one. */
  replaceChrome(message: string): void;
  /** Set by the slot socket. Called once when the worker itself ends the render. */
  onEnd: ((reason: SlotEnd, message: string) => void) | undefined;
}

/** The page with Chrome's ids of its parts. */
export interface OpenPage extends SlotPage {
  readonly browserContextId: string;
  readonly windowId: number;
  /** Whether the window was shown since the page opened or was reset. */
  shown: boolean;
  /** Renders that it has served, the current one included. */
  renders: number;
  /** The account for which it is kept after its render; undefined: it is closed. */
  keepFor: string | undefined;
  /** Settles when the document of the claim is gone: its context is closed, or the page is reset. */
  gone: PromiseWithResolvers<void>;
}

/**
 * Time for a page to open. Counted in ticks, not measured: a pause of the worker itself must not
 * count against its Chrome.
 */
const OPEN_S = 10;
async function countedSeconds<T>(work: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  let seconds = 0;
  const timer = setInterval(
    () => ++seconds >= OPEN_S && late.reject(new Error(`Chrome opened no page within ${OPEN_S} s`)),
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
    sealed: false,
    nearMemoryLimit,
    replaceChrome,
    onEnd: undefined,
    browserContextId,
    windowId,
    shown: false,
    renders: 0,
    keepFor: undefined,
    gone: Promise.withResolvers(),
  };
}

/** Rejects when Chrome fails, exits or takes longer than OPEN_S. */
export async function openPage(deps: PageDeps): Promise<OpenPage> {
  const guard = await deps.openGuard();
  try {
    return await countedSeconds(buildPage(deps, guard));
  } catch (error) {
    await guard.close();
    throw error;
  }
}

/**
 * Shows the page, which is hidden and produces no frames before. Does not wait: Chrome handles
 * later commands after this one.
 */
export function showPage(page: SlotPage): void {
  const open = page as OpenPage;
  open.shown = true;
  // Fails only with the page, which is reported separately.
  setWindowState(open, 'normal').catch(() => {});
}

export const setWindowState = (
  { pipe, windowId }: OpenPage,
  windowState: 'normal' | 'minimized',
): Promise<unknown> =>
  pipe.command('Browser.setWindowBounds', { windowId, bounds: { windowState } });

/** Destroys the context. Rejects when Chrome takes longer than OPEN_S. */
export const disposeContext = ({ pipe, browserContextId }: OpenPage): Promise<unknown> =>
  countedSeconds(pipe.command('Target.disposeBrowserContext', { browserContextId }));
