// The status sockets of the APIs: sends each its status when it has changed, and reads what waits
// in it.
import type { WebSocket } from 'ws';
import { edge } from '../../common/edge.ts';
import type { Log } from '../../common/log.ts';
import type { Waiting, WorkerStatus } from '../../common/protocol.ts';
import { readWaiting, SlotOffers } from './slot-offers.ts';

interface Watcher {
  /** The API process. Undefined: of the release before, which does not name it. */
  api: string | undefined;
  /** The status that was sent last; undefined when the next is sent whatever it is. */
  sent: string | undefined;
}

export interface StatusSockets {
  serve(ws: WebSocket, api: string | undefined): void;
  /**
   * Whether a claim of that API may take one of the slots that are ready. It must be taken in the
   * same turn.
   */
  admit(api: string | undefined): boolean;
  /** Sends the status at the end of this turn, to those to whom it is new. */
  push(): void;
  /** Sends it to all now. */
  sendAll(): void;
  stop(): void;
}

export function createStatusSockets(status: () => WorkerStatus, log: Log): StatusSockets {
  const watchers = new Map<WebSocket, Watcher>();
  const unnamedApis = () => [...watchers.values()].filter(({ api }) => api === undefined).length;
  const offers = new SlotOffers(unnamedApis);
  let offersEnd: NodeJS.Timeout | undefined;
  /** A claim or a release changes several numbers in one turn: they are sent together. */
  let pushes = false;

  function send(ws: WebSocket, watcher: Watcher, now: WorkerStatus): void {
    const offered = watcher.api === undefined ? undefined : offers.offeredTo(watcher.api);
    const text = JSON.stringify({
      ...now,
      ready: offers.readyFor(watcher.api, now.ready),
      offered,
    });
    if (text !== watcher.sent && ws.readyState === ws.OPEN) ws.send(text);
    watcher.sent = text;
  }

  /** A slot that is offered to one API is ready for no other. */
  function sendChanges(): void {
    const now = status();
    const endsMs = offers.offer(now.ready, performance.now());
    clearTimeout(offersEnd);
    if (endsMs !== undefined) offersEnd = setTimeout(push, endsMs - performance.now()).unref();
    for (const [ws, watcher] of watchers) send(ws, watcher, now);
  }

  function push(): void {
    if (pushes) return;
    pushes = true;
    setImmediate(() => {
      pushes = false;
      sendChanges();
    });
  }

  function sendNext(): void {
    for (const watcher of watchers.values()) watcher.sent = undefined;
  }

  function announce(api: string, waiting: Waiting | undefined): void {
    offers.announce(api, waiting, performance.now());
    if (status().ready > 0) push();
  }

  return {
    serve(ws, api) {
      const watcher: Watcher = { api, sent: undefined };
      watchers.set(ws, watcher);
      send(ws, watcher, status());
      ws.on('close', () => {
        watchers.delete(ws);
        if (api !== undefined) announce(api, undefined);
      });
      if (api === undefined) return;
      const onMessage = (data: Buffer) => {
        const message = readWaiting(data);
        if (message) announce(api, message.params);
      };
      ws.on(
        'message',
        edge(log, onMessage, () => ws.terminate()),
      );
    },
    admit(api) {
      if (!offers.admit(api, status().ready, performance.now())) return false;
      // An API counts its claim until the next status, which a release in the same turn could leave
      // unchanged.
      sendNext();
      push();
      return true;
    },
    push,
    sendAll() {
      sendNext();
      sendChanges();
    },
    stop: () => clearTimeout(offersEnd),
  };
}
