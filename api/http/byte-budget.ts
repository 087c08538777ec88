// How many bytes of bodies and PDFs this process holds at once. Taken before or as they come, given back when nothing holds them any more.

export interface ByteBudget {
  /** What one request holds. */
  open(): Reservation;
  used(): number;
  readonly maxBytes: number;
}

export interface Reservation {
  /** False, and nothing taken, when the budget is used up or the request has ended. */
  take(bytes: number): boolean;
  /** Gives back so many of those that were taken. */
  give(bytes: number): void;
  /** Gives back what is left. What still runs of the request can take no more, and what it gives back is not counted twice. */
  close(): void;
}

/** `whole`: a budget of which this one is a part. What is taken here is taken there too. */
export function createByteBudget(maxBytes: number, whole?: ByteBudget): ByteBudget {
  let used = 0;

  function open(): Reservation {
    const ofWhole = whole?.open();
    let held = 0;
    let closed = false;
    const give = (bytes: number) => {
      if (closed) return;
      held -= bytes;
      used -= bytes;
      ofWhole?.give(bytes);
    };
    return {
      take(bytes) {
        if (closed || used + bytes > maxBytes || ofWhole?.take(bytes) === false) return false;
        held += bytes;
        used += bytes;
        return true;
      },
      give,
      close() {
        give(held);
        closed = true;
        ofWhole?.close();
      },
    };
  }

  return { open, used: () => used, maxBytes };
}
