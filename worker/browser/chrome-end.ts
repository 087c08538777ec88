// Why a slot's Chrome ends, the slot end that its render reports, and why the next Chrome starts.
import type { SlotEnd } from '../../common/protocol.ts';
import { PipeClosed } from './cdp-pipe.ts';
import type { Fault } from './watchdog.ts';

/**
 * Why a Chrome was started. `died`: the last one exited or was unusable. `bound`: a render reached
 * a limit. `account`: the next render is for another account.
 */
export const STARTS = ['first', 'died', 'recycle', 'bound', 'account'] as const;
export type Start = (typeof STARTS)[number];
/**
 * Why a Chrome ended unexpectedly. `exited`: by itself or killed by another process. `not_started`:
 * it never answered.
 */
export const DEATHS = ['exited', 'hung', 'unusable', 'memory', 'flooded', 'not_started'] as const;
export type Death = (typeof DEATHS)[number];

/** Ends the service of a Chrome: a fault, its exit, or a planned replacement. */
export class ChromeEnd extends Error {
  readonly reason: Fault | 'exited' | Exclude<Start, 'first' | 'died'>;
  constructor(reason: ChromeEnd['reason'], message: string) {
    super(message);
    this.reason = reason;
  }
}

/**
 * The end caused by a failed command. A closed pipe counts as an exit: the start script of a
 * distribution can outlive its browser for a moment.
 */
export const chromeEndOf = (error: unknown): ChromeEnd =>
  error instanceof ChromeEnd
    ? error
    : new ChromeEnd(error instanceof PipeClosed ? 'exited' : 'unusable', (error as Error).message);

/**
 * The slot end that the API receives for each fault. The API retries only renders whose page did
 * not cause the fault.
 */
export const ENDS: Record<Fault | 'exited', SlotEnd> = {
  exited: 'chrome_died',
  hung: 'chrome_died',
  unusable: 'chrome_died',
  memory: 'memory',
  flooded: 'flooded',
};
export const isFault = (reason: ChromeEnd['reason']): reason is Fault | 'exited' =>
  Object.hasOwn(ENDS, reason);
export const byPage = (reason: ChromeEnd['reason']) => reason === 'memory' || reason === 'flooded';
