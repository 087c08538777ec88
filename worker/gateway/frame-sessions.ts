// The sessions of frames that Chrome runs in another process than the page, such as those whose
// response has `Origin-Agent-Cluster: ?1`. Chrome reports their requests there. The worker owns
// these sessions: its client receives their network events and cannot send commands to them.
import type { PageEvent } from '../../common/protocol.ts';
import { type CdpPipe, CRASHED, eventOf } from '../browser/cdp-pipe.ts';

const ATTACHED = 'Target.attachedToTarget';
const DETACHED = 'Target.detachedFromTarget';

const ENDS = new Set(['Network.loadingFailed', 'Network.loadingFinished']);
/** The request of the frame's document begins in the session of the page and ends in the frame's. */
const BEGINS = new Set(['Network.requestWillBeSent', 'Network.dataReceived']);
const FORWARDED: ReadonlySet<string> = new Set([
  'Network.loadingFailed',
  'Network.loadingFinished',
  'Network.requestWillBeSent',
  'Network.responseReceived',
  'Network.responseReceivedExtraInfo',
] satisfies PageEvent[]);

/** Chrome writes it first. An event is not parsed, since it may contain a URL of megabytes. */
const requestIdOf = (frame: Buffer) =>
  /^\{"method":"[\w.]+","params":\{"requestId":"([^"\\]+)"/.exec(
    frame.toString('latin1', 0, 200),
  )?.[1];

/** As Chrome reports a request of a frame that was removed from the page's own process. */
const canceled = (requestId: string) =>
  Buffer.from(
    JSON.stringify({
      method: 'Network.loadingFailed',
      params: {
        requestId,
        timestamp: 0,
        type: 'Other',
        errorText: 'net::ERR_ABORTED',
        canceled: true,
      },
    }),
  );

/** The parameters of both events. Only an attachment has the target. */
interface Attachment {
  sessionId: string;
  targetInfo?: { type: string };
}

export class FrameSessions {
  readonly #pipe: CdpPipe;
  readonly #onEvent: (frame: Buffer) => void;
  readonly #safely: (onFrame: (frame: Buffer) => void) => (frame: Buffer) => void;
  /** The requests of each session that have not ended. */
  readonly #pending = new Map<string, Set<string>>();
  #network: Record<string, unknown> = {};

  /**
   * `onEvent` receives the network events of all frames that the API reads. `safely` makes a
   * handler of events that does not throw.
   */
  constructor(
    pipe: CdpPipe,
    onEvent: (frame: Buffer) => void,
    safely: (onFrame: (frame: Buffer) => void) => (frame: Buffer) => void,
  ) {
    this.#pipe = pipe;
    this.#onEvent = onEvent;
    this.#safely = safely;
  }

  /** Watches the frames of the page from now on. `network`: the parameters of `Network.enable`. */
  watch(pageSession: string, network: Record<string, unknown>): void {
    this.#network = network;
    this.#attachIn(pageSession);
  }

  /** Handles an event of a session about the frames in it. Returns false for any other event. */
  take(event: string | undefined, frame: Buffer): boolean {
    if (event !== ATTACHED && event !== DETACHED) return false;
    const { sessionId, targetInfo } = JSON.parse(frame.toString()).params as Attachment;
    if (event === ATTACHED) {
      if (targetInfo?.type === 'iframe') this.#attach(sessionId);
      this.#send(sessionId, 'Runtime.runIfWaitingForDebugger');
    } else {
      this.#cancelAll(sessionId);
      this.#detach(sessionId);
    }
    return true;
  }

  close(): void {
    for (const sessionId of this.#pending.keys()) this.#detach(sessionId);
  }

  /**
   * Frames wait until the worker has attached to them, or their first requests would be missed. With
   * a filter for frames, Chromium 156 would make web workers wait, too, without an event.
   */
  #attachIn(sessionId: string): void {
    this.#send(sessionId, 'Target.setAutoAttach', {
      autoAttach: true,
      waitForDebuggerOnStart: true,
      flatten: true,
    });
  }

  #attach(sessionId: string): void {
    this.#pending.set(sessionId, new Set());
    const onFrame = this.#safely(frame => this.#onFrame(sessionId, frame));
    this.#pipe.route(sessionId, onFrame);
    this.#send(sessionId, 'Network.enable', this.#network);
    this.#attachIn(sessionId);
  }

  #detach(sessionId: string): void {
    this.#pending.delete(sessionId);
    this.#pipe.unroute(sessionId);
  }

  #onFrame(sessionId: string, frame: Buffer): void {
    const event = eventOf(frame);
    if (event === undefined || this.take(event, frame)) return;
    if (event === CRASHED) return this.#cancelAll(sessionId);
    const requestId = requestIdOf(frame);
    if (requestId === undefined) return;
    if (BEGINS.has(event)) this.#pending.get(sessionId)?.add(requestId);
    if (ENDS.has(event)) this.#pending.get(sessionId)?.delete(requestId);
    if (FORWARDED.has(event)) this.#onEvent(frame);
  }

  #cancelAll(sessionId: string): void {
    const pending = this.#pending.get(sessionId) ?? [];
    for (const requestId of pending) this.#onEvent(canceled(requestId));
    this.#pending.get(sessionId)?.clear();
  }

  /** Fails only with the frame or the page, whose end is reported separately. */
  #send(sessionId: string, method: string, params?: object): void {
    this.#pipe.command(method, params, sessionId).catch(() => {});
  }
}
