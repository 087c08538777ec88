// An API's socket and the slots that it opens on it, one after another. Owns what passes between the API and a slot's page, and what ends a slot.
import type { WebSocket } from 'ws';
import { edge } from '../../common/edge.ts';
import type { Log } from '../../common/log.ts';
import type { Metrics } from '../../common/operations.ts';
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
import { CRASHED, eventOf, isGone } from '../browser/cdp-pipe.ts';
import { type SlotPage, showPage } from '../browser/slot-page.ts';
import type { SlotPool } from '../browser/slot-pool.ts';
import { type Filtered, filterFrame } from './cdp-filter.ts';
import { isOrdinary, type Refusal } from './refusals.ts';

/** The largest frame taken from a page: an event names a `data:` URL in full, and a body of 10 MiB can hold one. A piece of a PDF is 1.4 MiB. */
const MAX_PAGE_FRAME_BYTES = 16 * 2 ** 20;
const PASSED_ON = new Set<string>(PAGE_EVENTS);
const CONSOLE_CALLED = 'Runtime.consoleAPICalled' satisfies PageEvent;
const EXCEPTION_THROWN = 'Runtime.exceptionThrown' satisfies PageEvent;
/** Of what a page writes to its console the log of renders keeps a few hundred characters: nobody needs more, and no render may fail for it. */
const MAX_CONSOLE_FRAME_BYTES = 32 * 1024;
/** More messages than this, or more bytes, are cut. Chrome keeps 1,000 and sends them when an API asks for them. */
const MAX_CONSOLE_EVENTS = 5_000;
const MAX_CONSOLE_BYTES = 4 * 2 ** 20;
/** The most that may wait to be sent to one API before the slot is ended: a page can make events faster than a network takes them. */
const MAX_WAITING_BYTES = 64 * 2 ** 20;
/** An API waits for a few answers of ours at a time. A client that reads none of them, and asks on, would fill the worker's memory. */
const MAX_ANSWERS_WAITING = 10_000;
/** A peer that does not answer the closing handshake is cut off. */
const CLOSING_MS = 1_000;
/** JSON-RPC's codes: a method that is not allowed, and a command that cannot be done now. */
const NOT_ALLOWED = -32_601;
const NOT_NOW = -32_000;
/** Why a slot or a connection of its page is ended: the closed lists of the metrics. */
const ENDS = ['chrome_died', 'worker_stopping', 'renderer_crashed', 'memory', 'deadline', 'flooded', 'refused'] as const;
/** The page did nothing that its Chrome may suffer from. */
const NOT_BY_PAGE: ReadonlySet<SlotEnd> = new Set(['worker_stopping', 'refused']);
const DENIALS = ['address', 'port', 'name', 'unresolved', 'requests', 'connections', 'bytes', 'closed'] as const;

interface Deps {
  pool: string;
  slots: Pick<SlotPool, 'release'>;
  claim(ticket: string): Claim;
  /** A ticket that came with OPEN was given no slot. */
  onRefused(reason: Refusal): void;
  /** Whether sockets without a slot can be afforded. */
  hasRoom(): boolean;
  log: Log;
  metrics: Metrics;
}

/** What a ticket for a slot is given. */
export type Claim = { ok: true; page: SlotPage; ticket: Ticket } | { ok: false; reason: Refusal };

interface Open {
  page: SlotPage;
  renderId: string;
  deadline: NodeJS.Timeout;
  /** Console messages and errors of the page, and their bytes. */
  console: { events: number; bytes: number; state: 'open' | 'cut' | 'disabling' };
  /** Decided by what the API says of the page, or to it, first. */
  shown?: boolean;
}

/** Serves a socket whose first slot its own ticket has opened. `gather` is called before what a page sends is written. */
export type ServeSlots = (ws: WebSocket, first: { page: SlotPage; ticket: Ticket }, gather: () => void) => void;

export function createSlotSockets({ pool, slots, claim, onRefused, hasRoom, log, metrics }: Deps): ServeSlots {
  const endsHelp = 'Slots that the worker ended on its own, by why.';
  const countEnd = metrics.counterBy('pressroom_slot_ends_total', endsHelp, 'reason', ENDS, { pool });
  const denialsHelp = 'Connections of pages that the guard did not make, by why.';
  const countDenial = metrics.counterBy('pressroom_egress_denied_total', denialsHelp, 'reason', DENIALS);

  return function serve(ws, first, gather) {
    /** Until the slot and its page are gone. */
    let open: Open | undefined;
    /** Commands of the API that the page has not answered. */
    let asked = 0;
    /** What is still said on this socket is heard no more. */
    let ending = false;
    const say = (method: string, params: object) => ws.send(JSON.stringify({ method, params }));
    /** Answers that the network has not taken yet. */
    let unsent = 0;
    const reply = (message: object) => {
      unsent++;
      ws.send(JSON.stringify(message), () => unsent--);
    };
    const answer = (id: number, result: object) => reply({ id, result });
    const refuse = (id: number, code: number, message: string) => reply({ id, error: { code, message } });

    /** The slot comes back at once, whatever the peer does. Resolves when its page is gone. */
    async function takeBack(reason: SlotEnd, message: string): Promise<void> {
      if (!open?.page.claimed) return log.warn({ reason, message }, 'a socket without a slot was closed');
      log.warn({ reason, message, renderId: open.renderId, slot: open.page.slot }, 'a slot was ended');
      countEnd(reason);
      await release(open, NOT_BY_PAGE.has(reason) ? undefined : message);
    }

    /** The API hears why at once, and by the closing of the socket that the page is gone. */
    function end(reason: SlotEnd, message: string): void {
      if (ending || ws.readyState !== ws.OPEN) return;
      ending = true;
      say(SLOT_ENDED, { reason, message });
      void takeBack(reason, message).finally(() => {
        ws.close(4_000, reason);
        cutOffLater();
      });
    }

    /** An exception in `handler` closes only this connection. */
    const safely = <A extends unknown[]>(handler: (...args: A) => void) => edge(log, handler, () => ws.terminate());
    const cutOffLater = () => void setTimeout(() => ws.terminate(), CLOSING_MS).unref();

    /** A page that owes answers may be stuck, or have a command of its own under way. */
    function release({ page, deadline }: Open, doubt = asked > 0 ? 'the render was given up' : undefined): Promise<void> {
      clearTimeout(deadline);
      return slots.release(page, doubt);
    }

    function begin(page: SlotPage, ticket: Ticket): void {
      const deadline = setTimeout(safely(end), ticket.maxMs, 'deadline', `the slot was open for ${ticket.maxMs} ms`);
      open = { page, renderId: ticket.renderId, deadline, console: { events: 0, bytes: 0, state: 'open' } };
      asked = 0;
      log.debug({ slot: page.slot, renderId: ticket.renderId }, 'a slot was claimed');
      page.onEnd = (reason, message) => open?.page === page && end(reason, message);
      const onDenied = (denied: EgressDenied) => {
        countDenial(denied.reason);
        if (page.claimed && ws.readyState === ws.OPEN) say(EGRESS_DENIED, denied);
      };
      page.guard.onDenied(safely(onDenied));
      const onRefused = (refused: EgressRefused) => {
        if (page.claimed && ws.readyState === ws.OPEN) say(EGRESS_REFUSED, refused);
      };
      page.guard.onRefused(safely(onRefused));
      page.guard.admit(ticket.egress);
      const onFrameOfPage = (frame: Buffer) => passOn(page, frame);
      page.pipe.route(page.sessionId, safely(onFrameOfPage));
    }

    function toPage(parts: Buffer[]): void {
      // What an API still says while its slot ends reaches nobody.
      if (!open?.page.claimed) return;
      if (open.shown === undefined) showPage(open.page);
      open.shown ??= true;
      asked++;
      open.page.pipe.forward(parts);
    }

    const sayOnConsole = (value: string) => say(CONSOLE_CALLED, { type: 'log', args: [{ type: 'string', value }] });

    /** Writing to the console in a loop fails no render and must not slow others: beyond the limit Chrome stops sending the messages. */
    function isCut(bytes: number): boolean {
      if (!open) return true;
      const { console, page } = open;
      console.events++;
      console.bytes += bytes;
      if (console.events <= MAX_CONSOLE_EVENTS && console.bytes <= MAX_CONSOLE_BYTES) return false;
      if (console.state === 'disabling') return true;
      if (console.state === 'open') sayOnConsole('console output was cut');
      console.state = 'disabling';
      const disabled = () => {
        console.state = 'cut';
      };
      page.pipe.command('Runtime.disable', {}, page.sessionId).then(disabled, disabled);
      return true;
    }

    function passOn(page: SlotPage, frame: Buffer): void {
      if (ws.readyState !== ws.OPEN) return;
      const event = eventOf(frame);
      if (event === undefined) asked--;
      if (event === CRASHED)
        return page.nearMemoryLimit()
          ? end('memory', 'the page used more memory than a render may')
          : end('renderer_crashed', "the page's process crashed");
      if (isGone(event, frame)) return page.giveUpChrome("the page's process ended without a crash");
      if (event !== undefined && !PASSED_ON.has(event)) return;
      if ((event === CONSOLE_CALLED || event === EXCEPTION_THROWN) && isCut(frame.length)) return;
      if (event === CONSOLE_CALLED && frame.length > MAX_CONSOLE_FRAME_BYTES) {
        return sayOnConsole(`(a message of ${Math.round(frame.length / 1024)} KiB)`);
      }
      // The API cannot count what it has not read yet, and reads a frame as a whole: an error's message can be as long as a page likes.
      if (frame.length > MAX_PAGE_FRAME_BYTES) return end('flooded', `the page made a frame of ${frame.length} bytes`);
      if (ws.bufferedAmount > MAX_WAITING_BYTES) return end('flooded', 'the page made more events than the network took');
      gather();
      ws.send(frame, { binary: false });
    }

    const pageOf = ({ frameId }: SlotPage): PingAnswer => ({ frameId, ...(hasRoom() && { keeps: true }) });

    function openNext(id: number, ticket: unknown): void {
      if (open) return end('refused', 'a slot was asked for on a socket that has one');
      const claimed = claim(typeof ticket === 'string' ? ticket : '');
      if (claimed.ok) {
        begin(claimed.page, claimed.ticket);
        return answer(id, pageOf(claimed.page));
      }
      onRefused(claimed.reason);
      if (isOrdinary(claimed.reason)) refuse(id, NOT_NOW, claimed.reason);
      else end('refused', `a ticket that opens no slot: ${claimed.reason}`);
    }

    async function endByRequest(id: number, ending: Open): Promise<void> {
      await release(ending);
      if (open === ending) open = undefined;
      answer(id, {});
    }

    function obey({ id, method, params }: Filtered & { kind: 'own' }): void {
      if (method === OPEN) return openNext(id, params.ticket);
      if (!open?.page.claimed) return refuse(id, NOT_NOW, 'no slot is open on this socket');
      if (method === PING) return answer(id, pageOf(open.page));
      if (method === END) return void endByRequest(id, open);
      method satisfies typeof STILL;
      open.shown ??= false;
      answer(id, {});
    }

    function onFrame(data: Buffer): void {
      if (ending || ws.readyState !== ws.OPEN) return;
      if (unsent > MAX_ANSWERS_WAITING) return end('flooded', 'the client asked more than it took answers');
      const filtered = filterFrame(data, open?.page.sessionId ?? '');
      if (filtered.kind === 'garbage') return end('refused', filtered.problem);
      if (filtered.kind === 'own') return obey(filtered);
      if (filtered.kind === 'refused') {
        log.warn({ method: filtered.method, problem: filtered.problem, renderId: open?.renderId }, 'a command was refused');
        return refuse(filtered.id, NOT_ALLOWED, `${filtered.method}: ${filtered.problem}`);
      }
      toPage(filtered.parts);
    }

    // The library has answered bytes that are no WebSocket frame, or too large a one, with a closing frame already.
    const onError = (error: Error) => {
      void takeBack('refused', error.message);
      cutOffLater();
    };
    ws.on('error', safely(onError));
    ws.on(
      'close',
      safely(() => open && void release(open)),
    );
    const onMessage = (data: Buffer, isBinary: boolean) => (isBinary ? end('refused', 'a binary frame') : onFrame(data));
    ws.on('message', safely(onMessage));
    begin(first.page, first.ticket);
  };
}
