// The port to a slot: what dispatch needs of a session with a worker, and how opening or losing one
// can fail. Its adapter is the CDP session.
import type { SlotEnd, SlotEnded } from '../../common/protocol.ts';

/**
 * Why a slot ended: the worker's reason, `silent` (nothing received for too long), or `closed` (the
 * socket closed on either side).
 */
export type SlotEndReason = SlotEnd | 'silent' | 'closed';

export interface SlotSession {
  /** The page's main frame. */
  readonly frameId: string;
  /** The worker's address, as it was given to `OpenSlot`. */
  readonly worker: string;
  /** Settles when the slot is over for any reason; never rejects. */
  readonly ended: Promise<SlotEnded | { reason: 'silent' | 'closed'; message: string }>;
  /** Releases the slot after its render. Does nothing when the slot has ended. */
  close(): void;
  /**
   * Releases a slot whose render did not finish. Resolves when the page has surely ended: the
   * worker confirmed it, or its time limit without messages has passed. Never rejects.
   */
  abandon(): Promise<void>;
}

/**
 * The worker is full or draining, or a kept socket to it closed. It can be tried again soon.
 */
export class SlotRejected extends Error {
  override name = 'SlotRejected';
}

/** The handshake failed, or the response took too long. */
export class WorkerUnreachable extends Error {
  override name = 'WorkerUnreachable';
}

/** A running render's socket ended under it. */
export class SlotLost extends Error {
  override name = 'SlotLost';
  readonly end: SlotEndReason;

  constructor(end: SlotEndReason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.end = end;
  }
}

/**
 * Chrome rejected a command for no reason in the page, as a browser does that lost one of its
 * processes.
 */
export class BrowserFailed extends Error {
  override name = 'BrowserFailed';
}

/**
 * Opens the slot: resolves when the page is there. `worker` is a ws address without a path. Rejects
 * with SlotRejected, WorkerUnreachable, or the signal's reason. It bounds itself in time.
 */
export type OpenSlot<S extends SlotSession = SlotSession> = (
  worker: string,
  ticket: string,
  signal: AbortSignal,
) => Promise<S>;
