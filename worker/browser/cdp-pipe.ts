// Speaks CDP to one Chrome over its --remote-debugging-pipe: NUL-ended JSON messages. Owns framing, our own commands and the routing of
// everything else to slots, by the head and the tail of a message, without parsing its body.
import type { Readable, Writable } from 'node:stream';
import { createEventBudget } from './event-budget.ts';

/** Our own commands count from here; the ids of a slot's client stay below, so that an answer tells whose it is by its first bytes. */
export const OWN_IDS_FROM = 1_000_000_000;

const TAIL = Buffer.from('"sessionId":"');
const QUOTE = 0x22;

export interface CdpPipe {
  /** Sends a command of the worker's own and waits for its answer. Rejects with CdpError, or PipeClosed when Chrome goes first. */
  command<T = Record<string, unknown>>(method: string, params?: object, sessionId?: string): Promise<T>;
  /** Passes on a frame that the filter has let through; `parts` together are one JSON object. False when Chrome should be given time (backpressure). */
  forward(parts: Buffer[]): boolean;
  /** Everything of this session that answers none of our own commands goes to `listener`, as Chrome wrote it. */
  route(sessionId: string, listener: (frame: Buffer) => void): void;
  unroute(sessionId: string): void;
  /** Events of the browser itself, parsed. */
  onBrowserEvent(listener: (method: string, params: Record<string, unknown>) => void): void;
  /** True while nothing is read because the page made events faster than its budget. */
  paused(): boolean;
  /** True once a page made events faster than its budget: the next page would begin with what is left of both. */
  overBudget(): boolean;
  /** Settles when the pipe is closed from either side. */
  readonly closed: Promise<void>;
}

export class CdpError extends Error {
  override name = 'CdpError';
}
export class PipeClosed extends Error {
  override name = 'PipeClosed';
}

/** The session a message belongs to, or undefined for the browser's own. A quote inside a JSON string is escaped, so the unescaped tail can only be the outermost object's last member. */
export function sessionOf(frame: Buffer): string | undefined {
  const length = frame.length;
  if (length < 4 || frame[length - 2] !== QUOTE) return undefined;
  const open = frame.lastIndexOf(QUOTE, length - 3);
  const start = open + 1 - TAIL.length;
  if (start < 1 || frame.compare(TAIL, 0, TAIL.length, start, open + 1) !== 0 || frame[start - 1] === 0x5c) return undefined;
  return frame.toString('latin1', open + 1, length - 2);
}

/** The id at the head of an answer (`{"id":12,…`), or undefined for an event. */
export function answerId(frame: Buffer): number | undefined {
  if (frame[2] !== 0x69 || frame[3] !== 0x64 || frame[4] !== QUOTE) return undefined;
  const id = Number.parseInt(frame.toString('latin1', 6, 24), 10);
  return Number.isNaN(id) ? undefined : id;
}

const EVENT_HEAD = Buffer.from('{"method":"');

/** The name of an event, by its head (`{"method":"Page.loadEventFired",…`), or undefined for an answer. */
export function eventOf(frame: Buffer): string | undefined {
  if (!frame.subarray(0, EVENT_HEAD.length).equals(EVENT_HEAD)) return undefined;
  return frame.toString('latin1', EVENT_HEAD.length, frame.indexOf(QUOTE, EVENT_HEAD.length));
}

/** A page's process has gone. */
export const CRASHED = 'Inspector.targetCrashed';

/** A page's process has ended and Chrome does not know how, because the process that starts all renderers has died. */
export const isGone = (event: string | undefined, frame: Buffer): boolean =>
  event === 'Inspector.detached' && frame.includes('Render process gone');

/** True when Chrome answered within `limitMs`, with an error too; false for one that hangs. What has come by then is read first: it may be we who stood still. */
export async function answersWithin(limitMs: number, command: Promise<unknown>): Promise<boolean> {
  const silent = Promise.withResolvers<false>();
  const timer = setTimeout(() => setImmediate(silent.resolve, false), limitMs);
  const answered = command.then(
    () => true,
    () => true,
  );
  try {
    return await Promise.race([answered, silent.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** Call it before each write: all writes of one turn of the event loop share one system call. Each call wakes the reader, which costs more than the write. */
export function oncePerTurn(stream: Pick<Writable, 'cork' | 'uncork'>): () => void {
  let corked = false;
  return () => {
    if (corked) return;
    corked = true;
    stream.cork();
    setImmediate(() => {
      corked = false;
      stream.uncork();
    });
  };
}

export function createCdpPipe(input: Writable, output: Readable): CdpPipe {
  const waiting = new Map<number, { resolve: (value: never) => void; reject: (error: Error) => void; method: string }>();
  const routes = new Map<string, (frame: Buffer) => void>();
  const browserListeners: ((method: string, params: Record<string, unknown>) => void)[] = [];
  const closed = Promise.withResolvers<void>();
  let isClosed = false;
  const gather = oncePerTurn(input);
  let nextId = OWN_IDS_FROM;
  let pieces: Buffer[] = [];

  const end = () => {
    if (isClosed) return;
    isClosed = true;
    clearTimeout(resumes);
    for (const { reject, method } of waiting.values()) reject(new PipeClosed(`Chrome ended before it answered ${method}`));
    waiting.clear();
    routes.clear();
    closed.resolve();
  };
  for (const stream of [input, output]) {
    stream.on('error', end);
    stream.on('close', end);
  }

  const settle = (id: number, frame: Buffer) => {
    const command = waiting.get(id);
    if (!command) return;
    waiting.delete(id);
    const message = JSON.parse(frame.toString());
    if (message.error) command.reject(new CdpError(`${command.method}: ${message.error.message}`));
    else command.resolve(message.result as never);
  };

  const budget = createEventBudget(performance.now());
  let pauseMs = 0;
  let overBudget = false;
  let resumes: NodeJS.Timeout | undefined;
  const resume = () => {
    resumes = undefined;
    output.resume();
  };

  const dispatch = (frame: Buffer) => {
    const id = answerId(frame);
    if (id !== undefined && id >= OWN_IDS_FROM) return settle(id, frame);
    if (id === undefined) pauseMs = budget.spend(frame.length, performance.now());
    const session = sessionOf(frame);
    if (session !== undefined) return routes.get(session)?.(frame);
    // Chrome tells neither an id nor a session when it could not read a command.
    if (eventOf(frame) === undefined) return;
    const { method, params } = JSON.parse(frame.toString());
    for (const listener of browserListeners) listener(method, params);
  };

  output.on('data', (chunk: Buffer) => {
    let from = 0;
    for (let to = chunk.indexOf(0, from); to !== -1; to = chunk.indexOf(0, from)) {
      const piece = chunk.subarray(from, to);
      if (pieces.length === 0) dispatch(piece);
      else {
        const frame = Buffer.concat([...pieces, piece]);
        pieces = [];
        dispatch(frame);
      }
      from = to + 1;
    }
    if (from < chunk.length) pieces.push(from === 0 ? chunk : chunk.subarray(from));
    if (pauseMs < 1) return;
    // Chrome keeps what is not read, so a page that goes on reaches its memory limit.
    overBudget = true;
    output.pause();
    resumes = setTimeout(resume, pauseMs);
    pauseMs = 0;
  });

  const forward = (parts: Buffer[]) => {
    if (isClosed) return true;
    gather();
    for (const part of parts) input.write(part);
    return input.write('\0');
  };

  return {
    command: (method, params = {}, sessionId) =>
      new Promise((resolve, reject) => {
        if (isClosed) return reject(new PipeClosed(`Chrome has ended; ${method} was not sent`));
        const id = nextId++;
        waiting.set(id, { resolve: resolve as never, reject, method });
        forward([Buffer.from(JSON.stringify({ id, method, params, ...(sessionId && { sessionId }) }))]);
      }),
    forward,
    route: (sessionId, listener) => void routes.set(sessionId, listener),
    unroute: sessionId => void routes.delete(sessionId),
    onBrowserEvent: listener => void browserListeners.push(listener),
    paused: () => resumes !== undefined,
    overBudget: () => overBudget,
    closed: closed.promise,
  };
}
