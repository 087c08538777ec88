// The port to a slot: what dispatch asks of a session with a worker, and how opening or losing one
// can fail. Its adapter is the CDP session.
import type { SlotEnd, SlotEnded } from '../../common/protocol.ts';

/**
 * Why a slot is over: the worker's own word, or `silent` (nothing heard for too long) and `closed`
 * (the socket went, or we closed it).
 */
export type SlotEndReason = SlotEnd | 'silent' | 'closed';

export interface SlotSession {
  /** The page's main frame. */
  readonly frameId: string;
  /** The worker's address, as it was given to `OpenSlot`. */
  readonly worker: string;
  /** Settles when the slot is over for any reason; never rejects. */
  readonly ended: Promise<SlotEnded | { reason: 'silent' | 'closed'; message: string }>;
  /** Gives the slot back when the render is done; nothing to do when it is over. */
  close(): void;
  /**
   * Gives back a slot whose render is not done. Resolves when the page has surely ended: the worker
   * said so, or has heard nothing for so long that it must have. Never rejects.
   */
  abandon(): Promise<void>;
}

/**
 * The worker is full or draining, or a socket to it had to be given up: it can be asked again in a
 * moment.
 */
export class SlotRefused extends Error {
  override name = 'SlotRefused';
}

/** No slot could be asked for: the handshake failed, or an answer took too long. */
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
 * Chrome refused a command, and the page is no reason for it: a browser that lost a process of its
 * own does so, and may say nothing else for long.
 */
export class BrowserFailed extends Error {
  override name = 'BrowserFailed';
}

/**
 * Opens the slot: resolves when the page is there. `worker` is a ws address without a path. Rejects
 * with SlotRefused, WorkerUnreachable, or the signal's reason. It bounds itself in time.
 */
export type OpenSlot<S extends SlotSession = SlotSession> = (
  worker: string,
  ticket: string,
  signal: AbortSignal,
) => Promise<S>;
