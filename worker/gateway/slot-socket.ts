// An API's socket and the slots that it opens on it, one after another. Owns the traffic between
// the API and a slot's page, and the reasons that end a slot.
import type { WebSocket } from 'ws';
import { edge } from '../../common/edge.ts';
import type { Log } from '../../common/log.ts';
import {
  EGRESS_DENIED,
  EGRESS_REFUSED,
  EGRESS_TIMED_OUT,
  type EgressDenied,
  type EgressTarget,
  END,
  OPEN,
  PAGE_EVENTS,
  type PageEvent,
  PING,
  type PingAnswer,
  SLOT_ENDED,
  type SlotEnd,
  type STILL,
  type Unreachable,
} from '../../common/protocol.ts';
import type { Ticket } from '../../common/ticket.ts';
import { CRASHED, eventOf, isProcessGone } from '../browser/cdp-pipe.ts';
import { type SlotPage, showPage } from '../browser/slot-page.ts';
import type { SlotPool } from '../browser/slot-pool.ts';
import { type Filtered, filterFrame } from './cdp-filter.ts';
import { ConsoleOutput } from './console-output.ts';
import { FrameSessions } from './frame-sessions.ts';
import type { GatewayMetrics } from './gateway-metrics.ts';
import { type GatewayRejection, isOrdinary } from './rejections.ts';

/**
 * Largest frame from a page: an event contains a `data:` URL in full, which can be as large as the
 * 10 MiB body. A chunk of a PDF has 1.4 MiB.
 */
const MAX_PAGE_FRAME_BYTES = 16 * 2 ** 20;
const FORWARDED = new Set<string>(PAGE_EVENTS);
const CONSOLE_CALLED = 'Runtime.consoleAPICalled' satisfies PageEvent;
const EXCEPTION_THROWN = 'Runtime.exceptionThrown' satisfies PageEvent;
/**
 * Larger console messages are replaced by their size. The render log keeps only a few hundred
 * characters.
 */
const MAX_CONSOLE_FRAME_BYTES = 32 * 1024;
/**
 * Unsent bytes to one API before the slot is ended: a page can make events faster than the network
 * transports them.
 */
const MAX_WAITING_BYTES = 64 * 2 ** 20;
/**
 * Unsent answers before the slot is ended. An API waits for a few answers at a time; a client that
 * sends commands without reading answers would fill the worker's memory.
 */
const MAX_ANSWERS_WAITING = 10_000;
/** Time for the peer to answer the closing handshake. */
const CLOSING_MS = 1_000;
/** JSON-RPC error codes: method not allowed, and command not possible now. */
const NOT_ALLOWED = -32_601;
const NOT_NOW = -32_000;
/** Ends that were not caused by the page, after which its Chrome is kept. */
const NOT_BY_PAGE: ReadonlySet<SlotEnd> = new Set(['worker_stopping', 'refused']);

export interface SlotSocketDeps {
  slots: Pick<SlotPool, 'release'>;
  claim(ticket: string): SlotClaim;
  /** Whether further sockets may stay open without a slot. */
  mayStayOpen(): boolean;
  counts: GatewayMetrics;
  log: Log;
}

/** The slot that a ticket opens, or the reason why it opens none. */
export type SlotClaim = ClaimedSlot | { ok: false; reason: GatewayRejection };
type ClaimedSlot = { ok: true; page: SlotPage; ticket: Ticket };

interface OpenSlot {
  page: SlotPage;
  renderId: string;
  deadline: NodeJS.Timeout;
  console: ConsoleOutput;
  frames: FrameSessions;
  /** True once the page is shown; false if the API has declared a static document. */
  shown?: boolean;
  /** The API has said so at the end. */
  succeeded?: boolean;
}

export class SlotSocket {
  readonly #ws: WebSocket;
  /** Called before a write: all writes of one turn share one system call. */
  readonly #cork: () => void;
  readonly #deps: SlotSocketDeps;
  /** Set until the slot and its page are closed. */
  #slot: OpenSlot | undefined;
  /** Commands of the API that the page has not answered. */
  #unanswered = 0;
  /** Answers that are not sent yet. */
  #unsentAnswers = 0;
  /** Further frames from the API are ignored. */
  #ending = false;

  constructor(ws: WebSocket, cork: () => void, deps: SlotSocketDeps) {
    this.#ws = ws;
    this.#cork = cork;
    this.#deps = deps;
  }

  /** Serves the socket. The ticket of its upgrade request has opened the first slot. */
  serve(first: ClaimedSlot): void {
    // The ws library has already answered an invalid or oversized frame with a closing frame.
    const onError = (error: Error) => {
      void this.#endSlot('refused', error.message);
      this.#terminateLater();
    };
    this.#ws.on('error', this.#safely(onError));
    this.#ws.on(
      'close',
      this.#safely(() => this.#slot && void this.#release(this.#slot)),
    );
    const onMessage = (data: Buffer, isBinary: boolean) =>
      isBinary ? this.#end('refused', 'a binary frame') : this.#onFrame(data);
    this.#ws.on('message', this.#safely(onMessage));
    this.#begin(first.page, first.ticket);
  }

  // --- Begin and end of a slot ---

  #begin(page: SlotPage, ticket: Ticket): void {
    const onDeadline = () =>
      this.#end('deadline', `the slot reached its limit of ${ticket.maxMs} ms`);
    const deadline = setTimeout(this.#safely(onDeadline), ticket.maxMs);
    const onFrameOfPage = this.#safely((frame: Buffer) => this.#onFrameOfPage(page, frame));
    const frames = new FrameSessions(
      page.pipe,
      frame => this.#sendFrame(frame),
      onFrame => this.#safely(onFrame),
    );
    this.#slot = {
      page,
      renderId: ticket.renderId,
      deadline,
      console: new ConsoleOutput(page, text => this.#sendConsoleLine(text)),
      frames,
    };
    this.#unanswered = 0;
    this.#deps.log.debug({ slot: page.slot, renderId: ticket.renderId }, 'a slot was claimed');
    page.onEnd = (reason, message) => this.#slot?.page === page && this.#end(reason, message);
    if (!page.sealed) this.#openNetwork(page, ticket);
    page.pipe.route(page.sessionId, onFrameOfPage);
  }

  #openNetwork(page: SlotPage, { egress }: Ticket): void {
    const onDenied = (denied: EgressDenied) => {
      this.#deps.counts.countEgressDenial(denied.reason);
      if (page.claimed && this.#isOpen()) this.#sendEvent(EGRESS_DENIED, denied);
    };
    page.guard.onDenied(this.#safely(onDenied));
    const onUnreachable = (target: EgressTarget, how: Unreachable) => {
      const event = how === 'refused' ? EGRESS_REFUSED : EGRESS_TIMED_OUT;
      if (page.claimed && this.#isOpen()) this.#sendEvent(event, target);
    };
    page.guard.onUnreachable(this.#safely(onUnreachable));
    page.guard.admit(egress);
  }

  /** Sends the reason to the API immediately and closes the socket when the page is closed. */
  #end(reason: SlotEnd, message: string): void {
    if (this.#ending || !this.#isOpen()) return;
    this.#ending = true;
    this.#sendEvent(SLOT_ENDED, { reason, message });
    void this.#endSlot(reason, message).finally(() => {
      this.#ws.close(4_000, reason);
      this.#terminateLater();
    });
  }

  /** Releases the slot at once, whatever the peer does. Resolves when its page is gone. */
  async #endSlot(reason: SlotEnd, message: string): Promise<void> {
    const { log, counts } = this.#deps;
    const slot = this.#slot;
    if (!slot?.page.claimed) return log.warn({ reason, message }, 'closed a socket without a slot');
    log.warn({ reason, message, renderId: slot.renderId, slot: slot.page.slot }, 'ended a slot');
    counts.countSlotEnd(reason);
    await this.#release(slot, NOT_BY_PAGE.has(reason) ? undefined : message);
  }

  /** With unanswered commands the page may hang or still execute one, so its Chrome is replaced. */
  #release(
    { page, deadline, frames, succeeded }: OpenSlot,
    replaceReason = this.#unanswered > 0 ? 'the render was aborted' : undefined,
  ): Promise<void> {
    clearTimeout(deadline);
    frames.close();
    return this.#deps.slots.release(page, replaceReason, succeeded);
  }

  // --- From the API to the page ---

  #onFrame(data: Buffer): void {
    if (this.#ending || !this.#isOpen()) return;
    if (this.#unsentAnswers > MAX_ANSWERS_WAITING)
      return this.#end('flooded', 'the client sent commands without reading the answers');
    const { sessionId = '', sealed } = this.#slot?.page ?? {};
    const filtered = filterFrame(data, sessionId, sealed);
    if (filtered.kind === 'garbage') return this.#end('refused', filtered.problem);
    if (filtered.kind === 'own') return this.#handleOwn(filtered);
    if (filtered.kind === 'rejected') {
      const { method, problem } = filtered;
      this.#deps.log.warn(
        { method, problem, renderId: this.#slot?.renderId },
        'rejected a command',
      );
      return this.#answerError(filtered.id, NOT_ALLOWED, `${method}: ${problem}`);
    }
    this.#forward(filtered);
  }

  #forward({ parts, network }: Filtered & { kind: 'forward' }): void {
    const slot = this.#slot;
    // Commands that arrive while the slot ends are dropped.
    if (!slot?.page.claimed) return;
    if (slot.shown === undefined) showPage(slot.page);
    slot.shown ??= true;
    this.#unanswered++;
    if (network) slot.frames.watch(slot.page.sessionId, network);
    slot.page.pipe.forward(parts);
  }

  #handleOwn({ id, method, params }: Filtered & { kind: 'own' }): void {
    if (method === OPEN) return this.#openNext(id, params.ticket);
    if (!this.#slot?.page.claimed)
      return this.#answerError(id, NOT_NOW, 'no slot is open on this socket');
    if (method === PING) return this.#answer(id, this.#pingAnswer(this.#slot.page));
    if (method === END) {
      this.#slot.succeeded = params.succeeded === true;
      return void this.#endByRequest(id, this.#slot);
    }
    method satisfies typeof STILL;
    this.#slot.shown ??= false;
    this.#answer(id, {});
  }

  #openNext(id: number, ticket: unknown): void {
    if (this.#slot) return this.#end('refused', 'the socket already has a slot');
    const claimed = this.#deps.claim(typeof ticket === 'string' ? ticket : '');
    if (claimed.ok) {
      this.#begin(claimed.page, claimed.ticket);
      return this.#answer(id, this.#pingAnswer(claimed.page));
    }
    this.#deps.counts.countRejection(claimed.reason);
    if (isOrdinary(claimed.reason)) this.#answerError(id, NOT_NOW, claimed.reason);
    else this.#end('refused', `the ticket was rejected: ${claimed.reason}`);
  }

  async #endByRequest(id: number, slot: OpenSlot): Promise<void> {
    await this.#release(slot);
    if (this.#slot === slot) this.#slot = undefined;
    this.#answer(id, {});
  }

  #pingAnswer({ frameId, sealed }: SlotPage): PingAnswer {
    return {
      frameId,
      ...(this.#deps.mayStayOpen() && { keeps: true }),
      ...(sealed && { sealed }),
    };
  }

  // --- From the page to the API ---

  #onFrameOfPage(page: SlotPage, frame: Buffer): void {
    if (!this.#isOpen()) return;
    const event = eventOf(frame);
    if (event === undefined) this.#unanswered--;
    if (event === CRASHED)
      return page.nearMemoryLimit()
        ? this.#end('memory', 'the page exceeded the memory limit of a render')
        : this.#end('renderer_crashed', "the page's process crashed");
    if (isProcessGone(event, frame))
      return page.replaceChrome("the page's process ended without a crash");
    if (this.#slot?.frames.take(event, frame)) return;
    if (event !== undefined && !FORWARDED.has(event)) return;
    if (
      (event === CONSOLE_CALLED || event === EXCEPTION_THROWN) &&
      !this.#slot?.console.take(frame.length)
    )
      return;
    if (event === CONSOLE_CALLED && frame.length > MAX_CONSOLE_FRAME_BYTES) {
      return this.#sendConsoleLine(`(a message of ${Math.round(frame.length / 1024)} KiB)`);
    }
    this.#sendFrame(frame);
  }

  #sendFrame(frame: Buffer): void {
    if (!this.#isOpen()) return;
    // Limited here because the API receives a frame as a whole: a page can make an error message of
    // any length.
    if (frame.length > MAX_PAGE_FRAME_BYTES)
      return this.#end('flooded', `the page produced a frame of ${frame.length} bytes`);
    if (this.#ws.bufferedAmount > MAX_WAITING_BYTES)
      return this.#end('flooded', 'the page produced events faster than the network sent them');
    this.#cork();
    this.#ws.send(frame, { binary: false });
  }

  // --- The socket ---

  #isOpen(): boolean {
    return this.#ws.readyState === this.#ws.OPEN;
  }

  #sendEvent(method: string, params: object): void {
    this.#ws.send(JSON.stringify({ method, params }));
  }

  #sendConsoleLine(value: string): void {
    this.#sendEvent(CONSOLE_CALLED, { type: 'log', args: [{ type: 'string', value }] });
  }

  #answer(id: number, result: object): void {
    this.#sendAnswer({ id, result });
  }

  #answerError(id: number, code: number, message: string): void {
    this.#sendAnswer({ id, error: { code, message } });
  }

  #sendAnswer(message: object): void {
    this.#unsentAnswers++;
    this.#ws.send(JSON.stringify(message), () => this.#unsentAnswers--);
  }

  #terminateLater(): void {
    setTimeout(() => this.#ws.terminate(), CLOSING_MS).unref();
  }

  /** An exception in `handler` closes only this connection. */
  #safely<A extends unknown[]>(handler: (...args: A) => void): (...args: A) => void {
    return edge(this.#deps.log, handler, () => this.#ws.terminate());
  }
}
