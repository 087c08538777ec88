// The edge of a connection: what a handler of its events throws is logged and ends that connection. Otherwise it would end the
// process, and with it the renders of others.
import type { Log } from '../common/log.ts';

/** A handler that never throws or rejects: `close` is called with the same arguments instead. `close` must not throw. */
export function edge<A extends unknown[]>(log: Log, handler: (...args: A) => unknown, close: (...args: A) => void): (...args: A) => void {
  return (...args) => {
    const failed = (error: unknown) => {
      log.error({ err: error }, 'a connection is ended, since a handler of its events failed');
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
