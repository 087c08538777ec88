// The error boundary of a connection: an exception in an event handler is logged and closes only
// that connection. An uncaught exception would end the process and all its renders.
import type { Log } from './log.ts';

/**
 * A handler that never throws or rejects: `close` is called with the same arguments instead.
 * `close` must not throw.
 */
export function edge<A extends unknown[]>(
  log: Log,
  handler: (...args: A) => unknown,
  close: (...args: A) => void,
): (...args: A) => void {
  return (...args) => {
    const failed = (error: unknown) => {
      log.error({ err: error }, 'an event handler failed; its connection is closed');
      close(...args);
    };
    try {
      const outcome = handler(...args);
      if (outcome instanceof Promise) outcome.catch(failed);
    } catch (error) {
      failed(error);
    }
  };
}
