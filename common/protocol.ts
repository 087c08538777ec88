// Messages between API and worker in addition to CDP. A release supports PROTOCOL and the number
// before it.
export const PROTOCOL = 1;

/**
 * Both ends of a slot's socket send a ping every PING_MS. A worker that receives nothing for
 * SILENCE_MS ends the slot.
 */
export const PING_MS = 2_000;
export const SILENCE_MS = 8_000;
/**
 * After this time since the API's last message, its worker has surely ended the slot. Only then may
 * the API retry the render elsewhere, or the account could exceed its concurrency limit.
 */
export const SLOT_ENDS_MS = SILENCE_MS + PING_MS;

/** Status report of a worker on `/v1/status`, sent at each change and at least every PING_MS. */
export interface WorkerStatus {
  protocol: number;
  pool: string;
  /** Total slots of the worker. */
  capacity: number;
  /** Slots available to this API now. Never more than `capacity - busy`. */
  ready: number;
  /**
   * The part of `ready` that is offered to this API only. Absent for an API without a name, and
   * from a worker of the previous release.
   */
  offered?: number | undefined;
  busy: number;
  /**
   * The accounts of the warm pages in ready slots, one entry for each page. Absent when there is
   * none.
   */
  warm?: string[] | undefined;
  draining: boolean;
  chrome: 'starting' | 'up' | 'down';
  chromeVersion: string;
  /** For `pressroom doctor`, like the next two. Absent from a worker of the previous release. */
  release?: string | undefined;
  /** Whether Chrome runs with its sandbox. */
  sandbox?: boolean | undefined;
  /** The worker's clock when it sent the report, as Unix time in ms. Nothing else depends on it. */
  sentAtMs?: number | undefined;
}

/**
 * Sent by an API on `/v1/status` every WAITING_MS while renders are queued and no worker has a slot
 * for it, and at the end once without `params`. The worker then offers each free slot to one API
 * process only. A worker of the previous release ignores the message.
 */
export const WAITING = 'Pressroom.waiting';
export const WAITING_MS = 100;
export interface Waiting {
  /** How long the next render in the API's queue has waited. A duration: no clocks are compared. */
  waitedMs: number;
  /** Queued renders in the API. */
  count: number;
  /** The next render is a trial render. */
  trial: boolean;
  /** An opaque name of the next render's account, the same in every API process. */
  account: string;
  /** Slots that the account holds through the API, plus the mean of those it held recently. */
  held: number;
  /** The account is throttled: over its fair share, it leaves the last free slot to others. */
  heldBack?: boolean | undefined;
}

/** Why a worker ended a slot, sent in `Pressroom.ended`. */
export const SLOT_ENDS = [
  'chrome_died', // all of Chrome exited: worth one retry elsewhere
  'worker_stopping', // a second signal or the end of the grace period: worth one retry elsewhere
  'renderer_crashed', // the page's renderer process crashed: caused by the page
  'memory', // the render's processes exceeded their memory limit
  'deadline', // the slot's time limit is over
  'flooded', // too many bytes were waiting to be sent to the API
  'refused', // a frame that is not allowed
  'not_static', // the document of a sealed page tried to load something: render it unsealed
] as const;
export type SlotEnd = (typeof SLOT_ENDS)[number];

/** The last message on a socket: why the slot ended. The worker closes the socket afterwards. */
export const SLOT_ENDED = 'Pressroom.ended';
export interface SlotEnded {
  reason: SlotEnd;
  message: string;
}

export const EGRESS_DENIED = 'Pressroom.egressDenied';
/** A closed list for logs and metrics. `unresolved` is a name without an address. */
export const EGRESS_DENIALS = [
  'address',
  'port',
  'name',
  'unresolved',
  'requests',
  'connections',
  'bytes',
  'closed',
] as const;
/** The egress guard blocked a request. */
export interface EgressDenied {
  host: string;
  port: number;
  reason: (typeof EGRESS_DENIALS)[number];
  atMs: number;
}

/**
 * An allowed server refused the connection, which Chrome sees only as closed. Not a reason of
 * EGRESS_DENIED: an API of the previous release reports unknown reasons as limits.
 */
export const EGRESS_REFUSED = 'Pressroom.egressRefused';
export interface EgressTarget {
  host: string;
  port: number;
}

/** An allowed server that did not accept the connection, or respond on it, in time. */
export const EGRESS_TIMED_OUT = 'Pressroom.egressTimedOut';
/** How an allowed server could not be reached. */
export type Unreachable = 'refused' | 'timeout';

/**
 * The page events that the API reads. A worker forwards no others. Events of the previous release
 * must stay, since its API processes still need them.
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

/** A command that the gateway answers with PingAnswer. Sent first, and then every PING_MS. */
export const PING = 'Pressroom.ping';
export interface PingAnswer {
  /** The page's main frame. */
  frameId: string;
  /** The worker supports OPEN. Absent from workers of older releases. */
  keeps?: true;
  /** The page is sealed. Sent only for a ticket with `isolation: 'warm'`. */
  sealed?: true;
}

/**
 * A command that the gateway answers with PingAnswer: opens the next slot, with its own `ticket`, on
 * a socket whose last slot has ended. Cheaper than a new socket. Returns an error when no slot is
 * free; any other failure closes the socket.
 */
export const OPEN = 'Pressroom.open';

/**
 * A command that the gateway answers with `{}`: the document is static and needs no frames. If it
 * comes before any command to the page, the worker keeps the page hidden; otherwise the first
 * command shows the page.
 */
export const STILL = 'Pressroom.still';

/**
 * A command that the gateway answers with `{}` when the slot and its page have ended: an aborted
 * render has surely stopped, and the socket can be reused. Closing the socket also ends its slot.
 * With `{"succeeded": true}` the worker may keep a sealed page for the account.
 */
export const END = 'Pressroom.end';
