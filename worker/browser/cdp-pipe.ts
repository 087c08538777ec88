// Speaks CDP to one Chrome over its --remote-debugging-pipe: NUL-ended JSON messages. Owns framing,
// our own commands and the routing of everything else to slots, by the head and the tail of a
// message, without parsing its body.
import type { Readable, Writable } from 'node:stream';
import { createEventBudget } from './event-budget.ts';

/**
 * Our own commands count from here; the ids of a slot's client stay below, so that the first bytes
 * of an answer show whose it is.
 */
export const OWN_IDS_FROM = 1_000_000_000;

const TAIL = Buffer.from('"sessionId":"');
const QUOTE = 0x22;

export class CdpError extends Error {
  override name = 'CdpError';
}
export class PipeClosed extends Error {
  override name = 'PipeClosed';
}

/**
 * The session a message belongs to, or undefined for the browser's own. A quote inside a JSON
 * string is escaped, so the unescaped tail can only be the outermost object's last member.
 */
export function sessionOf(frame: Buffer): string | undefined {
  const length = frame.length;
  if (length < 4 || frame[length - 2] !== QUOTE) return undefined;
  const open = frame.lastIndexOf(QUOTE, length - 3);
  const start = open + 1 - TAIL.length;
  if (
    start < 1 ||
    frame.compare(TAIL, 0, TAIL.length, start, open + 1) !== 0 ||
    frame[start - 1] === 0x5c
  )
    return undefined;
  return frame.toString('latin1', open + 1, length - 2);
}

/** The id at the head of an answer (`{"id":12,…`), or undefined for an event. */
export function answerId(frame: Buffer): number | undefined {
  if (frame[2] !== 0x69 || frame[3] !== 0x64 || frame[4] !== QUOTE) return undefined;
  const id = Number.parseInt(frame.toString('latin1', 6, 24), 10);
  return Number.isNaN(id) ? undefined : id;
}

const EVENT_HEAD = Buffer.from('{"method":"');

/**
 * The name of an event, by its head (`{"method":"Page.loadEventFired",…`), or undefined for an
 * answer.
 */
export function eventOf(frame: Buffer): string | undefined {
  if (!frame.subarray(0, EVENT_HEAD.length).equals(EVENT_HEAD)) return undefined;
  return frame.toString('latin1', EVENT_HEAD.length, frame.indexOf(QUOTE, EVENT_HEAD.length));
}

/** A page's process has gone. */
export const CRASHED = 'Inspector.targetCrashed';

/**
 * A page's process has ended and Chrome does not know how, because the process that starts all
 * renderers has died.
 */
export const isProcessGone = (event: string | undefined, frame: Buffer): boolean =>
  event === 'Inspector.detached' && frame.includes('Render process gone');

/**
 * True when Chrome answered within `limitMs`, with an error too; false for one that hangs. What has
 * come by then is read first: it may be we who stood still.
 */
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

/**
 * Call it before each write: all writes of one turn of the event loop share one system call. Each
 * call wakes the reader, which costs more than the write.
 */
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

type FrameListener = (frame: Buffer) => void;
type BrowserEventListener = (method: string, params: Record<string, unknown>) => void;

interface PendingCommand {
  method: string;
  /** Called with the whole answer, parsed. */
  settle(answer: { error?: { message: string }; result?: unknown }): void;
  reject(error: Error): void;
}

export class CdpPipe {
  readonly #input: Writable;
  readonly #output: Readable;
  readonly #corkInput: () => void;
  readonly #pending = new Map<number, PendingCommand>();
  readonly #routes = new Map<string, FrameListener>();
  readonly #browserListeners: BrowserEventListener[] = [];
  readonly #closing = Promise.withResolvers<void>();
  readonly #budget = createEventBudget(performance.now());
  #isClosed = false;
  #nextId = OWN_IDS_FROM;
  /** The pieces of a message whose end has not been read. */
  #pieces: Buffer[] = [];
  #pauseMs = 0;
  #overBudget = false;
  #resumes: NodeJS.Timeout | undefined;

  constructor(input: Writable, output: Readable) {
    this.#input = input;
    this.#output = output;
    this.#corkInput = oncePerTurn(input);
    const end = () => this.#end();
    for (const stream of [input, output]) {
      stream.on('error', end);
      stream.on('close', end);
    }
    output.on('data', (chunk: Buffer) => this.#onData(chunk));
  }

  /** Settles when the pipe is closed from either side. */
  get closed(): Promise<void> {
    return this.#closing.promise;
  }

  /**
   * Sends a command of the worker's own and waits for its answer. Rejects with CdpError, or
   * PipeClosed when Chrome ends first.
   */
  command<T = Record<string, unknown>>(
    method: string,
    params: object = {},
    sessionId?: string,
  ): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.#isClosed) return reject(new PipeClosed(`Chrome has ended; ${method} was not sent`));
      const id = this.#nextId++;
      const settle: PendingCommand['settle'] = ({ error, result }) => {
        if (error) reject(new CdpError(`${method}: ${error.message}`));
        else resolve(result as T);
      };
      this.#pending.set(id, { method, settle, reject });
      this.forward([
        Buffer.from(JSON.stringify({ id, method, params, ...(sessionId && { sessionId }) })),
      ]);
    });
  }

  /**
   * Passes on a frame that the filter has let through; `parts` together are one JSON object. False
   * when Chrome should be given time (backpressure).
   */
  forward(parts: Buffer[]): boolean {
    if (this.#isClosed) return true;
    this.#corkInput();
    for (const part of parts) this.#input.write(part);
    return this.#input.write('\0');
  }

  /**
   * Everything of this session that answers none of our own commands goes to `listener`, as Chrome
   * wrote it.
   */
  route(sessionId: string, listener: FrameListener): void {
    this.#routes.set(sessionId, listener);
  }

  unroute(sessionId: string): void {
    this.#routes.delete(sessionId);
  }

  /** Events of the browser itself, parsed. */
  onBrowserEvent(listener: BrowserEventListener): void {
    this.#browserListeners.push(listener);
  }

  /** True while nothing is read because the page made events faster than its budget. */
  paused(): boolean {
    return this.#resumes !== undefined;
  }

  /**
   * True once a page made events faster than its budget: the next page would begin with what is
   * left of both.
   */
  overBudget(): boolean {
    return this.#overBudget;
  }

  #onData(chunk: Buffer): void {
    let from = 0;
    for (let to = chunk.indexOf(0, from); to !== -1; to = chunk.indexOf(0, from)) {
      const piece = chunk.subarray(from, to);
      if (this.#pieces.length === 0) this.#dispatch(piece);
      else {
        const frame = Buffer.concat([...this.#pieces, piece]);
        this.#pieces = [];
        this.#dispatch(frame);
      }
      from = to + 1;
    }
    if (from < chunk.length) this.#pieces.push(from === 0 ? chunk : chunk.subarray(from));
    if (this.#pauseMs >= 1) this.#pause();
  }

  #dispatch(frame: Buffer): void {
    const id = answerId(frame);
    if (id !== undefined && id >= OWN_IDS_FROM) return this.#settle(id, frame);
    if (id === undefined) this.#pauseMs = this.#budget.spend(frame.length, performance.now());
    const session = sessionOf(frame);
    if (session !== undefined) return this.#routes.get(session)?.(frame);
    // Chrome sends neither an id nor a session when it could not read a command.
    if (eventOf(frame) === undefined) return;
    const { method, params } = JSON.parse(frame.toString());
    for (const listener of this.#browserListeners) listener(method, params);
  }

  #settle(id: number, frame: Buffer): void {
    const command = this.#pending.get(id);
    if (!command) return;
    this.#pending.delete(id);
    command.settle(JSON.parse(frame.toString()));
  }

  /** Chrome keeps what is not read, so a page that goes on reaches its memory limit. */
  #pause(): void {
    this.#overBudget = true;
    this.#output.pause();
    const resume = () => {
      this.#resumes = undefined;
      this.#output.resume();
    };
    this.#resumes = setTimeout(resume, this.#pauseMs);
    this.#pauseMs = 0;
  }

  #end(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearTimeout(this.#resumes);
    for (const { reject, method } of this.#pending.values())
      reject(new PipeClosed(`Chrome ended before it answered ${method}`));
    this.#pending.clear();
    this.#routes.clear();
    this.#closing.resolve();
  }
}
