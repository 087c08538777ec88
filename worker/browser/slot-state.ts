// The states of a slot, what it is made with, and what a render asks of it.
import type { Log } from '../../common/log.ts';
import type { Chrome } from './chrome.ts';
import type { Death, Start } from './chrome-end.ts';
import type { SlotGuard } from './slot-page.ts';
import type { SlotLimits } from './watchdog.ts';

/**
 * `closing`: the last page closes or is reset, and the next one opens in the same Chrome.
 * `restarting`: the next page opens in another Chrome.
 */
export const SLOT_STATES = [
  'starting',
  'ready',
  'claimed',
  'closing',
  'restarting',
  'stopped',
] as const;
export type SlotState = (typeof SLOT_STATES)[number];

export interface SlotDeps {
  limits: SlotLimits;
  /** `signal` aborts the start. `log` includes the slot number. */
  launch(signal: AbortSignal, log: Log): Promise<Chrome>;
  openGuard(): Promise<SlotGuard>;
  log: Log;
  onChange(): void;
  onStart(reason: Start): void;
  onDeath(reason: Death): void;
  /** A sealed page that was kept serves a render. */
  onWarmRender(): void;
  /** The document of a sealed page tried to load something. */
  onViolation(): void;
}

/** A render that asks for a page. */
export interface PageRequest {
  /** Undefined: unknown, as for an API of the previous release. */
  account?: string | undefined;
  /** The document is static: the page is sealed. */
  isStatic?: boolean;
  /** The page, if sealed, is kept after the render. */
  keep?: boolean;
}
