// Notices a Chrome that answers, but opens no page any more: it does so when it can start no renderer, and says nothing of it.

/**
 * So many seconds without a page that came up. They are counted, not measured: a worker that stood still itself must not blame its Chrome. Many pages that open
 * at once may each take longer.
 */
const STUCK_AFTER_S = 10;

export class Stuck extends Error {
  override name = 'Stuck';
}

export interface Progress {
  /** Resolves as `opening` does; rejects with Stuck when meanwhile nothing at all comes up for too long. */
  within<T>(opening: Promise<T>): Promise<T>;
}

export function createProgress(): Progress {
  let opened = 0;
  return {
    within: async opening => {
      const stuck = Promise.withResolvers<never>();
      let seen = opened;
      let idleS = 0;
      const timer = setInterval(() => {
        idleS = seen === opened ? idleS + 1 : 0;
        seen = opened;
        if (idleS >= STUCK_AFTER_S) stuck.reject(new Stuck(`Chrome opened no page within ${STUCK_AFTER_S} s`));
      }, 1_000);
      try {
        const done = await Promise.race([opening, stuck.promise]);
        opened++;
        return done;
      } finally {
        clearInterval(timer);
      }
    },
  };
}
