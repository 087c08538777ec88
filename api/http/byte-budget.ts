// How many bytes of bodies and PDFs this process holds at once. Taken before they are read, given back when the answer is out.

export interface ByteBudget {
  /** What one request holds. */
  open(): Reservation;
  used(): number;
}

export interface Reservation {
  /** False, and nothing taken, when the budget is used up. */
  take(bytes: number): boolean;
  /** For bytes that are there already, such as a finished PDF: they count, so that others are refused. */
  add(bytes: number): void;
  /** Gives all back; what comes later is not counted any more. */
  close(): void;
}

export function createByteBudget(maxBytes: number): ByteBudget {
  let used = 0;

  function open(): Reservation {
    let held = 0;
    let closed = false;
    const add = (bytes: number) => {
      if (closed) return;
      held += bytes;
      used += bytes;
    };
    return {
      take(bytes) {
        if (used + bytes > maxBytes) return false;
        add(bytes);
        return true;
      },
      add,
      close() {
        used -= held;
        held = 0;
        closed = true;
      },
    };
  }

  return { open, used: () => used };
}
