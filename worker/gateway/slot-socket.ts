// An API's socket and the slots that it opens on it, one after another. Owns what passes between
// the API and a slot's page, and what ends a slot.
import type { WebSocket } from 'ws';
import { edge } from '../../common/edge.ts';
import type { Log } from '../../common/log.ts';
import {
  EGRESS_DENIED,
  EGRESS_REFUSED,
  type EgressDenied,
  type EgressRefused,
  END,
  OPEN,
  PAGE_EVENTS,
  type PageEvent,
  PING,
  type PingAnswer,
  SLOT_ENDED,
  type SlotEnd,
  type STILL,
} from '../../common/protocol.ts';
import type { Ticket } from '../../common/ticket.ts';
import { CRASHED, eventOf, isProcessGone } from '../browser/cdp-pipe.ts';
import { type SlotPage, showPage } from '../browser/slot-page.ts';
import type { SlotPool } from '../browser/slot-pool.ts';
import { type Filtered, filterFrame } from './cdp-filter.ts';
import { ConsoleOutput } from './console-output.ts';
import type { GatewayMetrics } from './gateway-metrics.ts';
import { type GatewayRefusal, isOrdinary } from './refusals.ts';

/**
 * The largest frame taken from a page: an event names a `data:` URL in full, and a body of 10 MiB
 * can hold one. A piece of a PDF is 1.4 MiB.
 */
const MAX_PAGE_FRAME_BYTES = 16 * 2 ** 20;
const PASSED_ON = new Set<string>(PAGE_EVENTS);
const CONSOLE_CALLED = 'Runtime.consoleAPICalled' satisfies PageEvent;
const EXCEPTION_THROWN = 'Runtime.exceptionThrown' satisfies PageEvent;
/**
 * The render log keeps a few hundred characters of a console message: a longer one is replaced by
 * its size, and fails no render.
 */
const MAX_CONSOLE_FRAME_BYTES = 32 * 1024;
/**
 * The most that may wait to be sent to one API before the slot is ended: a page can make events
 * faster than a network takes them.
 */
const MAX_WAITING_BYTES = 64 * 2 ** 20;
/**
 * An API waits for a few answers at a time. A client that reads none of them and sends more
 * commands would fill the worker's memory.
 */
const MAX_ANSWERS_WAITING = 10_000;
/** A peer that does not answer the closing handshake is cut off. */
const CLOSING_MS = 1_000;
/** JSON-RPC's codes: a method that is not allowed, and a command that cannot be done now. */
const NOT_ALLOWED = -32_601;
const NOT_NOW = -32_000;
/** The page did nothing that its Chrome may suffer from. */
const NOT_BY_PAGE: ReadonlySet<SlotEnd> = new Set(['worker_stopping', 'refused']);

export interface SlotSocketDeps {
  slots: Pick<SlotPool, 'release'>;
  claim(ticket: string): SlotClaim;
  /** Whether there is room for sockets without a slot. */
  mayStayOpen(): boolean;
  counts: GatewayMetrics;
  log: Log;
}

/** The slot that a ticket opens, or why it opens none. */
export type SlotClaim = ClaimedSlot | { ok: false; reason: GatewayRefusal };
type ClaimedSlot = { ok: true; page: SlotPage; ticket: Ticket };

interface OpenSlot {
  page: SlotPage;
  renderId: string;
  deadline: NodeJS.Timeout;
  console: ConsoleOutput;
  /** Set by the API's first command about the page, or to it. */
  shown?: boolean;
}

export class SlotSocket {
  readonly #ws: WebSocket;
  /** Called before a write: all writes of one turn share one system call. */
  readonly #cork: () => void;
  readonly #deps: SlotSocketDeps;
  /** Until the slot and its page are gone. */
  #slot: OpenSlot | undefined;
  /** Commands of the API that the page has not answered. */
  #unanswered = 0;
  /** Answers that the network has not taken yet. */
  #unsentAnswers = 0;
  /** Frames that still come on this socket are ignored. */
  #ending = false;

  constructor(ws: WebSocket, cork: () => void, deps: SlotSocketDeps) {
    this.#ws = ws;
    this.#cork = cork;
    this.#deps = deps;
  }

  /** Serves the socket, whose own ticket has opened the first slot. */
  serve(first: ClaimedSlot): void {
    // The library has answered bytes that are no WebSocket frame, or too large a one, with a
    // closing frame already.
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

  // --- The slot: its begin and its ends ---

  #begin(page: SlotPage, ticket: Ticket): void {
    const onDeadline = () => this.#end('deadline', `the slot was open for ${ticket.maxMs} ms`);
    const deadline = setTimeout(this.#safely(onDeadline), ticket.maxMs);
    this.#slot = {
      page,
      renderId: ticket.renderId,
      deadline,
      console: new ConsoleOutput(page, text => this.#sendConsoleLine(text)),
    };
    this.#unanswered = 0;
    this.#deps.log.debug({ slot: page.slot, renderId: ticket.renderId }, 'a slot was claimed');
    page.onEnd = (reason, message) => this.#slot?.page === page && this.#end(reason, message);
    const onDenied = (denied: EgressDenied) => {
      this.#deps.counts.countEgressDenial(denied.reason);
      if (page.claimed && this.#isOpen()) this.#sendEvent(EGRESS_DENIED, denied);
    };
    page.guard.onDenied(this.#safely(onDenied));
    const onRefused = (refused: EgressRefused) => {
      if (page.claimed && this.#isOpen()) this.#sendEvent(EGRESS_REFUSED, refused);
    };
    page.guard.onRefused(this.#safely(onRefused));
    page.guard.admit(ticket.egress);
    const onFrameOfPage = (frame: Buffer) => this.#onFrameOfPage(page, frame);
    page.pipe.route(page.sessionId, this.#safely(onFrameOfPage));
  }

  /** The API receives the reason at once; the socket closes when the page is gone. */
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
    if (!slot?.page.claimed)
      return log.warn({ reason, message }, 'a socket without a slot was closed');
    log.warn(
      { reason, message, renderId: slot.renderId, slot: slot.page.slot },
      'a slot was ended',
    );
    counts.countSlotEnd(reason);
    await this.#release(slot, NOT_BY_PAGE.has(reason) ? undefined : message);
  }

  /** A page that owes answers may hang, or have a command of its own under way. */
  #release(
    { page, deadline }: OpenSlot,
    doubt = this.#unanswered > 0 ? 'the render was aborted' : undefined,
  ): Promise<void> {
    clearTimeout(deadline);
    return this.#deps.slots.release(page, doubt);
  }

  // --- From the API to the page ---

  #onFrame(data: Buffer): void {
    if (this.#ending || !this.#isOpen()) return;
    if (this.#unsentAnswers > MAX_ANSWERS_WAITING)
      return this.#end('flooded', 'the client asked more than it took answers');
    const filtered = filterFrame(data, this.#slot?.page.sessionId ?? '');
    if (filtered.kind === 'garbage') return this.#end('refused', filtered.problem);
    if (filtered.kind === 'own') return this.#handleOwn(filtered);
    if (filtered.kind === 'refused') {
      const { method, problem } = filtered;
      this.#deps.log.warn(
        { method, problem, renderId: this.#slot?.renderId },
        'a command was refused',
      );
      return this.#answerError(filtered.id, NOT_ALLOWED, `${method}: ${problem}`);
    }
    this.#forward(filtered.parts);
  }

  #forward(parts: Buffer[]): void {
    const slot = this.#slot;
    // Commands that arrive while the slot ends are dropped.
    if (!slot?.page.claimed) return;
    if (slot.shown === undefined) showPage(slot.page);
    slot.shown ??= true;
    this.#unanswered++;
    slot.page.pipe.forward(parts);
  }

  #handleOwn({ id, method, params }: Filtered & { kind: 'own' }): void {
    if (method === OPEN) return this.#openNext(id, params.ticket);
    if (!this.#slot?.page.claimed)
      return this.#answerError(id, NOT_NOW, 'no slot is open on this socket');
    if (method === PING) return this.#answer(id, this.#pingAnswer(this.#slot.page));
    if (method === END) return void this.#endByRequest(id, this.#slot);
    method satisfies typeof STILL;
    this.#slot.shown ??= false;
    this.#answer(id, {});
  }

  #openNext(id: number, ticket: unknown): void {
    if (this.#slot) return this.#end('refused', 'a slot was asked for on a socket that has one');
    const claimed = this.#deps.claim(typeof ticket === 'string' ? ticket : '');
    if (claimed.ok) {
      this.#begin(claimed.page, claimed.ticket);
      return this.#answer(id, this.#pingAnswer(claimed.page));
    }
    this.#deps.counts.countRefusal(claimed.reason);
    if (isOrdinary(claimed.reason)) this.#answerError(id, NOT_NOW, claimed.reason);
    else this.#end('refused', `a ticket that opens no slot: ${claimed.reason}`);
  }

  async #endByRequest(id: number, slot: OpenSlot): Promise<void> {
    await this.#release(slot);
    if (this.#slot === slot) this.#slot = undefined;
    this.#answer(id, {});
  }

  #pingAnswer({ frameId }: SlotPage): PingAnswer {
    return { frameId, ...(this.#deps.mayStayOpen() && { keeps: true }) };
  }

  // --- From the page to the API ---

  #onFrameOfPage(page: SlotPage, frame: Buffer): void {
    if (!this.#isOpen()) return;
    const event = eventOf(frame);
    if (event === undefined) this.#unanswered--;
    if (event === CRASHED)
      return page.nearMemoryLimit()
        ? this.#end('memory', 'the page used more memory than a render may')
        : this.#end('renderer_crashed', "the page's process crashed");
    if (isProcessGone(event, frame))
      return page.replaceChrome("the page's process ended without a crash");
    if (event !== undefined && !PASSED_ON.has(event)) return;
    if (
      (event === CONSOLE_CALLED || event === EXCEPTION_THROWN) &&
      !this.#slot?.console.take(frame.length)
    )
      return;
    if (event === CONSOLE_CALLED && frame.length > MAX_CONSOLE_FRAME_BYTES) {
      return this.#sendConsoleLine(`(a message of ${Math.round(frame.length / 1024)} KiB)`);
    }
    // The API cannot count what it has not read yet, and reads a frame as a whole: a page can make
    // an error's message as long as it likes.
    if (frame.length > MAX_PAGE_FRAME_BYTES)
      return this.#end('flooded', `the page made a frame of ${frame.length} bytes`);
    if (this.#ws.bufferedAmount > MAX_WAITING_BYTES)
      return this.#end('flooded', 'the page made more events than the network took');
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
