// Messages between the API and a worker besides CDP. Both import this file; a release supports
// PROTOCOL and the number before it.
export const PROTOCOL = 1;

/**
 * Both ends of a slot's socket ask every PING_MS for a sign of life. A worker that hears nothing
 * for SILENCE_MS ends the slot.
 */
export const PING_MS = 2_000;
export const SILENCE_MS = 8_000;
/**
 * So long after the last that an API has sent, its worker has ended the slot, whatever lies between
 * them: the silence, and how often a worker looks. Only then may the API render the same again
 * elsewhere, or the account would have one more running than its plan allows.
 */
export const SLOT_ENDS_MS = SILENCE_MS + PING_MS;

/** Pushed by a worker on `/v1/status` at each change and at least every PING_MS. */
export interface WorkerStatus {
  protocol: number;
  pool: string;
  /** Renders at once that the worker takes. */
  capacity: number;
  /** Slots that a claim of this API would get at once. Never more than `capacity - busy`. */
  ready: number;
  /**
   * Of these: offered to this API, and ready for no other. Left out for an API without a name, and
   * by a worker of the release before.
   */
  offered?: number | undefined;
  busy: number;
  draining: boolean;
  chrome: 'starting' | 'up' | 'down';
  chromeVersion: string;
}

/**
 * Sent by an API on `/v1/status` while renders wait in it and no worker has a slot for it: every
 * WAITING_MS, and at the end once without `params`. The worker offers each slot that becomes free
 * to one API process: only in the status of that process it is `ready`. A worker of the release
 * before ignores the message; the processes then claim what is ready for all of them.
 */
export const WAITING = 'Pressroom.waiting';
export const WAITING_MS = 100;
export interface Waiting {
  /** How long the render that is next in the API has waited. A duration: no clocks are compared. */
  waitedMs: number;
  /** Renders that wait in the API. */
  count: number;
  /** The next is a trial render. */
  trial: boolean;
  /** An opaque name of the account of the next, the same in every API process. */
  account: string;
  /** Slots that the account holds through the API, plus the mean of those it held lately. */
  held: number;
  /**
   * The account uses more than its share: while nothing else waits, the last free slot stays free
   * for others. It is offered when it would be used anyway.
   */
  heldBack?: boolean | undefined;
}

/** Why a worker ended a slot on its own, told in `Pressroom.ended`. */
export type SlotEnd =
  | 'chrome_died' // the whole Chrome went: worth one retry elsewhere
  | 'worker_stopping' // a second signal or the end of the grace: worth one retry elsewhere
  | 'renderer_crashed' // the page's own process went: the page's fault
  | 'memory' // the render's processes outgrew their limit
  | 'deadline' // the slot's time is over
  | 'flooded' // more was waiting to be sent to the API than a slot may hold
  | 'refused'; // a frame that no API of ours sends

/** Tells why, as the last frame of a socket. The worker closes it when the page is gone. */
export const SLOT_ENDED = 'Pressroom.ended';
export interface SlotEnded {
  reason: SlotEnd;
  message: string;
}

export const EGRESS_DENIED = 'Pressroom.egressDenied';
/**
 * The guard made no connection for the page. `reason` is a closed list, for logs and metrics:
 * `unresolved` is a name without an address, the others are refusals.
 */
export interface EgressDenied {
  host: string;
  port: number;
  reason:
    | 'address'
    | 'port'
    | 'name'
    | 'unresolved'
    | 'requests'
    | 'connections'
    | 'bytes'
    | 'closed';
  atMs: number;
}

/**
 * An allowed server refused the connection, which Chrome sees only as closed. Not a reason of
 * EGRESS_DENIED: an API of the previous release reports unknown reasons as limits.
 */
export const EGRESS_REFUSED = 'Pressroom.egressRefused';
export interface EgressRefused {
  host: string;
  port: number;
}

/**
 * The events of a page that an API reads; a worker passes on no others. A page makes many that
 * nobody would look at, for each message of a WebSocket too. What the release before has here must
 * stay, since its APIs listen to it.
 */
export const PAGE_EVENTS = [
  'Fetch.authRequired',
  'Fetch.requestPaused',
  'Network.loadingFailed',
  'Network.loadingFinished',
  'Network.requestWillBeSent',
  'Network.responseReceived',
  'Network.responseReceivedExtraInfo',
  'Page.frameNavigated',
  'Page.frameRequestedNavigation',
  'Page.frameStartedNavigating',
  'Page.frameStoppedLoading',
  'Page.javascriptDialogOpening',
  'Page.loadEventFired',
  'Runtime.consoleAPICalled',
  'Runtime.exceptionThrown',
] as const;
export type PageEvent = (typeof PAGE_EVENTS)[number];

/**
 * A command that the gateway answers itself, with PingAnswer. The API sends it first, and then
 * every PING_MS.
 */
export const PING = 'Pressroom.ping';
export interface PingAnswer {
  /** The page's main frame. */
  frameId: string;
  /** The worker knows OPEN. One of a release before it leaves this out. */
  keeps?: true;
}

/**
 * A command that the gateway answers itself, with PingAnswer: opens the next slot on a socket whose
 * last one is gone, by a `ticket` of its own. It costs less than a new socket. Answered with an
 * error when no slot is free; after any other fault the socket closes.
 */
export const OPEN = 'Pressroom.open';

/**
 * A command that the gateway answers itself, with `{}`: the page is still, so that it needs no
 * screen frames. The worker leaves it hidden when this is said before any command to the page;
 * otherwise it shows the page at the first of them.
 */
export const STILL = 'Pressroom.still';

/**
 * A command that the gateway answers itself, with `{}`, when the slot and its page are gone: then
 * the socket is free for the next, and a render that was given up has surely ended. A slot ends,
 * too, when its socket closes.
 */
export const END = 'Pressroom.end';
