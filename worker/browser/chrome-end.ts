// Why a slot's Chrome ends, what that means for the render in it, and why the next one starts.
import type { SlotEnd } from '../../common/protocol.ts';
import { PipeClosed } from './cdp-pipe.ts';
import type { Fault } from './watchdog.ts';

/**
 * Why a Chrome was started. `died`: the last one ended or was of no use. `bound`: its render hit a
 * bound. `account`: another account is next.
 */
export const STARTS = ['first', 'died', 'recycle', 'bound', 'account'] as const;
export type Start = (typeof STARTS)[number];
/**
 * Why a Chrome ended unasked. `exited`: by itself or killed by another process. `not_started`: it
 * never answered.
 */
export const DEATHS = ['exited', 'hung', 'unusable', 'memory', 'flooded', 'not_started'] as const;
export type Death = (typeof DEATHS)[number];

/** What ends a Chrome: a fault, its own end, or that it is not to be used again. */
export class Over extends Error {
  readonly reason: Fault | 'exited' | Exclude<Start, 'first' | 'died'>;
  constructor(reason: Over['reason'], message: string) {
    super(message);
    this.reason = reason;
  }
}

/**
 * A command failed. A distribution's start script may outlive its browser for a moment: then the
 * pipe closes before the process has ended.
 */
export const overBy = (error: unknown): Over =>
  error instanceof Over
    ? error
    : new Over(error instanceof PipeClosed ? 'exited' : 'unusable', (error as Error).message);

/**
 * How each fault is reported to the API, which renders elsewhere only what its page did not cause.
 */
export const ENDS: Record<Fault | 'exited', SlotEnd> = {
  exited: 'chrome_died',
  hung: 'chrome_died',
  unusable: 'chrome_died',
  memory: 'memory',
  flooded: 'flooded',
};
export const isFault = (reason: Over['reason']): reason is Fault | 'exited' =>
  Object.hasOwn(ENDS, reason);
export const byPage = (reason: Over['reason']) => reason === 'memory' || reason === 'flooded';
