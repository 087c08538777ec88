// An API's socket and the slots that it opens on it, one after another. Owns what passes between the API and a slot's page, and what ends a slot.
import type { WebSocket } from 'ws';
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
import { CRASHED, eventOf } from '../cdp-pipe.ts';
import { edge } from '../edge.ts';
import type { MemoryWatchdog } from '../memory.ts';
import type { Slot, Slots } from '../slots.ts';
import { type Filtered, filterFrame } from './cdp-filter.ts';
import { isOrdinary, type Refusal } from './refusals.ts';

/** The largest frame taken from a page: an event names a `data:` URL in full, and a body of 10 MiB can hold one. A piece of a PDF is 1.4 MiB. */
const MAX_PAGE_FRAME_BYTES = 16 * 2 ** 20;
const PASSED_ON = new Set<string>(PAGE_EVENTS);
const CONSOLE_CALLED = 'Runtime.consoleAPICalled' satisfies PageEvent;
/** Of what a page writes to its console the log of renders keeps a few hundred characters: nobody needs more, and no render may fail for it. */
const MAX_CONSOLE_FRAME_BYTES = 32 * 1024;
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
const DENIALS = ['address', 'port', 'name', 'unresolved', 'requests', 'connections', 'bytes', 'closed'] as const;

interface Deps {
  pool: string;
  slots: Slots;
  watchdog: Pick<MemoryWatchdog, 'killedRecently'>;
  claim(ticket: string): Claim;
  /** A ticket that came with OPEN was given no slot. */
  onRefused(reason: Refusal): void;
  /** Whether sockets without a slot can be afforded. */
  hasRoom(): boolean;
  log: Log;
  metrics: Metrics;
}

/** What a ticket for a slot is given. */
export type Claim = { ok: true; slot: Slot; ticket: Ticket } | { ok: false; reason: Refusal };

interface Open {
  slot: Slot;
  renderId: string;
  deadline: NodeJS.Timeout;
  /** Decided by what the API says of the page, or to it, first. */
  shown?: boolean;
}

/** Serves a socket whose first slot its own ticket has opened. `gather` is called before what a page sends is written. */
export type ServeSlots = (ws: WebSocket, first: { slot: Slot; ticket: Ticket }, gather: () => void) => void;

export function createSlotSockets({ pool, slots, watchdog, claim, onRefused, hasRoom, log, metrics }: Deps): ServeSlots {
  const endsHelp = 'Slots that the worker ended on its own, by why.';
  const countEnd = metrics.counterBy('pressroom_slot_ends_total', endsHelp, 'reason', ENDS, { pool });
  const denialsHelp = 'Connections of pages that the guard did not make, by why.';
  const countDenial = metrics.counterBy('pressroom_egress_denied_total', denialsHelp, 'reason', DENIALS);

  return function serve(ws, first, gather) {
    /** Until the slot and its page are gone. */
    let open: Open | undefined;
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
      if (open?.slot.state !== 'claimed') return log.warn({ reason, message }, 'a socket without a slot was closed');
      log.warn({ reason, message, renderId: open.renderId, slot: open.slot.number }, 'a slot was ended');
      countEnd(reason);
      await release(open);
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

    function release({ slot, deadline }: Open): Promise<void> {
      clearTimeout(deadline);
      return slots.release(slot);
    }

    function begin(slot: Slot, ticket: Ticket): void {
      const deadline = setTimeout(safely(end), ticket.maxMs, 'deadline', `the slot was open for ${ticket.maxMs} ms`);
      open = { slot, renderId: ticket.renderId, deadline };
      slot.onEnd = (reason, message) => open?.slot === slot && end(reason, message);
      const onDenied = (denied: EgressDenied) => {
        countDenial(denied.reason);
        if (slot.state === 'claimed' && ws.readyState === ws.OPEN) say(EGRESS_DENIED, denied);
      };
      slot.guard.onDenied(safely(onDenied));
      const onRefused = (refused: EgressRefused) => {
        if (slot.state === 'claimed' && ws.readyState === ws.OPEN) say(EGRESS_REFUSED, refused);
      };
      slot.guard.onRefused(safely(onRefused));
      slot.guard.admit(ticket.egress);
      const onFrameOfPage = (frame: Buffer) => passOn(slot, frame);
      slot.chrome.pipe.route(slot.sessionId, safely(onFrameOfPage));
    }

    function toPage(parts: Buffer[]): void {
      // What an API still says while its slot ends reaches nobody.
      if (open?.slot.state !== 'claimed') return;
      if (open.shown === undefined) slots.show(open.slot);
      open.shown ??= true;
      open.slot.chrome.pipe.forward(parts);
    }

    function passOn({ chrome }: Slot, frame: Buffer): void {
      if (ws.readyState !== ws.OPEN) return;
      const event = eventOf(frame);
      if (event === CRASHED)
        return watchdog.killedRecently(chrome)
          ? end('memory', 'the page used more memory than a render may')
          : end('renderer_crashed', "the page's process crashed");
      if (event !== undefined && !PASSED_ON.has(event)) return;
      if (event === CONSOLE_CALLED && frame.length > MAX_CONSOLE_FRAME_BYTES) {
        const value = `(a message of ${Math.round(frame.length / 1024)} KiB)`;
        return say(CONSOLE_CALLED, { type: 'log', args: [{ type: 'string', value }] });
      }
      // The API cannot count what it has not read yet, and reads a frame as a whole: an error's message can be as long as a page likes.
      if (frame.length > MAX_PAGE_FRAME_BYTES) return end('flooded', `the page made a frame of ${frame.length} bytes`);
      if (ws.bufferedAmount > MAX_WAITING_BYTES) return end('flooded', 'the page made more events than the network took');
      gather();
      ws.send(frame, { binary: false });
    }

    const pageOf = ({ frameId }: Slot): PingAnswer => ({ frameId, ...(hasRoom() && { keeps: true }) });

    function openNext(id: number, ticket: unknown): void {
      if (open) return end('refused', 'a slot was asked for on a socket that has one');
      const claimed = claim(typeof ticket === 'string' ? ticket : '');
      if (claimed.ok) {
        begin(claimed.slot, claimed.ticket);
        return answer(id, pageOf(claimed.slot));
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
      if (open?.slot.state !== 'claimed') return refuse(id, NOT_NOW, 'no slot is open on this socket');
      if (method === PING) return answer(id, pageOf(open.slot));
      if (method === END) return void endByRequest(id, open);
      method satisfies typeof STILL;
      open.shown ??= false;
      answer(id, {});
    }

    function onFrame(data: Buffer): void {
      if (ending || ws.readyState !== ws.OPEN) return;
      if (unsent > MAX_ANSWERS_WAITING) return end('flooded', 'the client asked more than it took answers');
      const filtered = filterFrame(data, open?.slot.sessionId ?? '');
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
    begin(first.slot, first.ticket);
  };
}
