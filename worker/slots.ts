// The slots: each is one fresh browser context with one blank page and one guard, used for one render and destroyed after it. They are opened ahead
// of need, so that a claim costs nothing. Owns their states and numbers; which Chrome they live in is the supervisor's.
import type { Log } from '../common/log.ts';
import type { EgressDenied, EgressRefused, SlotEnd } from '../common/protocol.ts';
import type { EgressPolicy } from '../common/ticket.ts';
import { answersWithin, CRASHED, eventOf } from './cdp-pipe.ts';
import type { Chrome } from './chrome.ts';
import { createProgress, Stuck } from './stuck.ts';

export type SlotState = 'warming' | 'ready' | 'claimed' | 'closing';

/** What a slot needs of the egress guard (worker/egress/proxy.ts opens the real one). */
export interface SlotGuard {
  readonly port: number;
  admit(policy: EgressPolicy): void;
  onDenied(listener: (denied: EgressDenied) => void): void;
  onRefused(listener: (refused: EgressRefused) => void): void;
  /** Refuses everything at once, and gives the port back when `unused` has settled. */
  close(unused?: Promise<unknown>): Promise<void>;
}

export interface Slot {
  readonly number: number;
  readonly chrome: Chrome;
  readonly sessionId: string;
  readonly frameId: string;
  readonly guard: SlotGuard;
  state: SlotState;
  /** Set by whoever claimed it: hears once that the worker ends the slot on its own. */
  onEnd: ((reason: SlotEnd, message: string) => void) | undefined;
}

interface Deps {
  capacity: number;
  /**
   * How many are kept ready while others are in use, so that the next render need not wait for a context. All of `capacity` are ready when nothing
   * runs: opening one costs as much CPU as a render, which those that run would feel.
   */
  spare: number;
  openGuard(): Promise<SlotGuard>;
  log: Log;
  onChange(): void;
  /** A slot was closed, after a render or unused; the supervisor counts renders and ends a Chrome that is no longer used. */
  onClosed(chrome: Chrome, used: boolean): void;
  /** Slots fail again and again before anybody uses one, or do not come up at all: this Chrome is of no use. */
  onBroken(chrome: Chrome, error: Error): void;
}

export interface Slots {
  /** From now on new slots are opened in this Chrome. Resolves when one is ready there; the ready ones of other Chromes are closed then. */
  use(chrome: Chrome): Promise<void>;
  /** No new slots in this Chrome, its ready ones are forgotten and its claimed ones end with `chrome_died`. */
  lost(chrome: Chrome): void;
  claim(): Slot | undefined;
  /** Asks the pages that wait in this Chrome for a sign of life. One that gives none within `limitMs` is thrown away. */
  check(chrome: Chrome, limitMs: number): Promise<void>;
  /** Shows the slot's page, which is hidden until then and makes no screen frames. Sent at once, not waited for: Chrome shows it before it does what is sent after. */
  show(slot: Slot): void;
  /** Destroys the slot's context. Never throws; safe to call twice. */
  release(slot: Slot): Promise<void>;
  count(state: SlotState): number;
  countIn(chrome: Chrome): number;
  claimed(): Slot[];
  draining(): boolean;
  /** Opens no more, closes those that are ready, and resolves when the last claimed one has been released. */
  drain(): Promise<void>;
}

const RETRY_MS = 200;
const BROKEN_AFTER = 3;
/** Its pages would be rendered without their images, and nobody would know. */
export const CUT_OFF = "the process of Chrome's network died";

export function createSlots(deps: Deps): Slots {
  const slots = new Set<Slot>();
  let current: Chrome | undefined;
  let numbers = 0;
  let opening = 0;
  const progress = createProgress();
  /** Since a slot was last claimed. */
  let failures = 0;
  let draining = false;
  let firstReady: { resolve(): void; reject(error: Error): void } | undefined;
  const drained = Promise.withResolvers<void>();

  /** One that is warming is no slot yet. */
  const count = (state: SlotState) => (state === 'warming' ? opening : [...slots].filter(slot => slot.state === state).length);
  const enter = (slot: Slot, state: SlotState) => {
    slot.state = state;
    deps.onChange();
  };

  async function open(chrome: Chrome): Promise<void> {
    const guard = await deps.openGuard();
    const { command } = chrome.pipe;
    let browserContextId: string | undefined;
    const build = async (): Promise<Slot> => {
      ({ browserContextId } = await command<{ browserContextId: string }>('Target.createBrowserContext', {
        proxyServer: `http://127.0.0.1:${guard.port}`,
        proxyBypassList: '<-loopback>',
        disposeOnDetach: true,
      }));
      const [{ targetId }] = await Promise.all([
        command<{ targetId: string }>('Target.createTarget', { url: 'about:blank', browserContextId, windowState: 'minimized' }),
        command('Browser.setDownloadBehavior', { behavior: 'deny', browserContextId }),
      ]);
      const [{ sessionId }, { windowId }] = await Promise.all([
        command<{ sessionId: string }>('Target.attachToTarget', { targetId, flatten: true }),
        command<{ windowId: number }>('Browser.getWindowForTarget', { targetId }),
      ]);
      const slot: Slot = { number: ++numbers, chrome, sessionId, frameId: targetId, guard, state: 'warming', onEnd: undefined };
      inside.set(slot, { browserContextId, windowId });
      chrome.pipe.route(sessionId, frame => {
        if (slot.state === 'ready' && eventOf(frame) === CRASHED) discard(slot, 'the page of a waiting slot crashed');
      });
      await command('Page.enable', {}, sessionId);
      return slot;
    };
    try {
      const slot = await progress.within(build());
      if (draining || chrome !== current) return await destroy(slot);
      slots.add(slot);
      enter(slot, 'ready');
    } catch (error) {
      if (browserContextId) command('Target.disposeBrowserContext', { browserContextId }).catch(() => {});
      await guard.close();
      throw error;
    }
  }

  /** Chrome's own names for what a slot is made of. */
  const inside = new WeakMap<Slot, { browserContextId: string; windowId: number }>();
  async function destroy(slot: Slot): Promise<void> {
    slot.chrome.pipe.unroute(slot.sessionId);
    const gone = slot.chrome.pipe.command('Target.disposeBrowserContext', { browserContextId: inside.get(slot)?.browserContextId });
    await Promise.allSettled([gone, slot.guard.close(gone)]);
  }

  function refill(): void {
    const chrome = current;
    if (!chrome || draining) return;
    const claimed = count('claimed');
    const ready = [...slots].filter(slot => slot.state === 'ready' && slot.chrome === chrome).length;
    const wanted = (claimed === 0 ? deps.capacity : deps.spare) - ready - opening;
    for (let i = 0; i < wanted; i++) {
      opening++;
      open(chrome)
        .finally(() => {
          opening--;
        })
        .then(() => onOpened(chrome))
        .catch(error => onFailed(chrome, error));
    }
  }

  /** A page that closes itself is gone without an answer to anything that is asked of it. */
  const listening = new WeakSet<Chrome>();
  function listenForClosing(chrome: Chrome): void {
    if (listening.has(chrome)) return;
    listening.add(chrome);
    chrome.pipe.onBrowserEvent((method, { sessionId }) => {
      const slot = method === 'Target.detachedFromTarget' && [...slots].find(each => each.sessionId === sessionId);
      if (!slot || slot.state === 'closing') return;
      slot.onEnd?.('renderer_crashed', 'the page closed itself');
      void release(slot);
    });
  }

  function onOpened(chrome: Chrome): void {
    if (chrome !== current) return refill();
    firstReady?.resolve();
    firstReady = undefined;
    for (const slot of slots) if (slot.state === 'ready' && slot.chrome !== chrome) void release(slot);
  }

  /** A slot did not come up, or did not live until somebody wanted it. */
  function onFailed(chrome: Chrome, error: Error): void {
    if (chrome !== current || draining) return refill();
    failures++;
    deps.log.warn({ err: error, failures }, 'a slot failed before it was used');
    if (failures >= BROKEN_AFTER || error instanceof Stuck) {
      failures = 0;
      firstReady?.reject(error);
      firstReady = undefined;
      return deps.onBroken(chrome, error);
    }
    setTimeout(refill, RETRY_MS * failures).unref();
  }

  function discard(slot: Slot, why: string): void {
    void release(slot, () => onFailed(slot.chrome, new Error(why)));
  }

  /** `next`: what is done about the gap it leaves. */
  async function release(slot: Slot, next = refill): Promise<void> {
    if (slot.state === 'closing' || !slots.has(slot)) return;
    const used = slot.state === 'claimed';
    enter(slot, 'closing');
    next();
    await destroy(slot);
    slots.delete(slot);
    deps.onChange();
    deps.onClosed(slot.chrome, used);
    settleDrain();
  }

  const settleDrain = () => {
    if (draining && slots.size === 0) drained.resolve();
  };

  return {
    use: chrome => {
      current = chrome;
      listenForClosing(chrome);
      failures = 0;
      const ready = Promise.withResolvers<void>();
      firstReady?.reject(new Error('another Chrome took over'));
      firstReady = ready;
      refill();
      return ready.promise;
    },
    lost: chrome => {
      const wasCurrent = current === chrome;
      if (wasCurrent) current = undefined;
      for (const slot of slots) {
        if (slot.chrome !== chrome) continue;
        if (slot.state === 'claimed') slot.onEnd?.('chrome_died', 'Chrome ended');
        void release(slot);
      }
      if (!wasCurrent) return;
      firstReady?.reject(new Error('Chrome ended before it had a slot'));
      firstReady = undefined;
    },
    claim: () => {
      if (draining || count('claimed') >= deps.capacity) return undefined;
      const ready = [...slots].filter(slot => slot.state === 'ready');
      const slot = ready.find(({ chrome }) => chrome === current) ?? ready[0];
      if (!slot) return undefined;
      if (!slot.chrome.connected()) {
        deps.onBroken(slot.chrome, new Error(CUT_OFF));
        return undefined;
      }
      enter(slot, 'claimed');
      failures = 0;
      refill();
      return slot;
    },
    check: async (chrome, limitMs) => {
      const waiting = [...slots].filter(slot => slot.state === 'ready' && slot.chrome === chrome);
      const look = async (slot: Slot) => {
        const answers = await answersWithin(limitMs, chrome.pipe.command('Runtime.getIsolateId', {}, slot.sessionId));
        if (!answers && slot.state === 'ready') discard(slot, 'the page of a waiting slot does not answer');
      };
      await Promise.all(waiting.map(look));
    },
    show: slot => {
      const bounds = { windowId: inside.get(slot)?.windowId, bounds: { windowState: 'normal' } };
      slot.chrome.pipe.command('Browser.setWindowBounds', bounds).catch(() => {}); // it fails with the page, which is told in other ways
    },
    release: slot => release(slot),
    count,
    countIn: chrome => [...slots].filter(slot => slot.chrome === chrome).length,
    claimed: () => [...slots].filter(slot => slot.state === 'claimed'),
    draining: () => draining,
    drain: () => {
      draining = true;
      for (const slot of slots) if (slot.state === 'ready') void release(slot);
      deps.onChange();
      settleDrain();
      return drained.promise;
    },
  };
}
