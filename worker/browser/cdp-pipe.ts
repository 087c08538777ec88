// The CDP connection to one Chrome over --remote-debugging-pipe (NUL-terminated JSON). Owns
// framing, the worker's own commands and the routing of all other messages to slots. Routing reads
// only the head and the tail of a message.
import type { Readable, Writable } from 'node:stream';
import { createEventBudget } from './event-budget.ts';

/**
 * First id of the worker's own commands. Ids of a slot's client are lower, so the first bytes of an
 * answer identify its recipient.
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
 * The session of a message, or undefined for the browser itself. Quotes inside JSON strings are
 * escaped, so an unescaped tail is always the last member of the outermost object.
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
 * The name of an event, read from its head (`{"method":"Page.loadEventFired",…`), or undefined for
 * an answer.
 */
export function eventOf(frame: Buffer): string | undefined {
  if (!frame.subarray(0, EVENT_HEAD.length).equals(EVENT_HEAD)) return undefined;
  return frame.toString('latin1', EVENT_HEAD.length, frame.indexOf(QUOTE, EVENT_HEAD.length));
}

/** Sent when the process of a page crashes. */
export const CRASHED = 'Inspector.targetCrashed';

/**
 * True when a page's process ended without a crash report: the zygote, which starts all renderers,
 * has died.
 */
export const isProcessGone = (event: string | undefined, frame: Buffer): boolean =>
  event === 'Inspector.detached' && frame.includes('Render process gone');

/**
 * True when Chrome answered within `limitMs`, even with an error. Input that has already arrived is
 * read first, since this process may have been paused itself.
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
 * Returns a function to call before each write. All writes of one event-loop turn then share one
 * system call, because each call wakes the reader, which costs more than the write.
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
  /** Called with the parsed answer. */
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
  /** Chunks of a message that is not complete yet. */
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
   * Sends one of the worker's own commands and returns its result. Rejects with CdpError, or with
   * PipeClosed when Chrome ends first.
   */
  command<T = Record<string, unknown>>(
    method: string,
    params: object = {},
    sessionId?: string,
  ): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.#isClosed)
        return reject(new PipeClosed(`Chrome has exited; ${method} was not sent`));
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
   * Forwards a frame that passed the filter; `parts` together are one JSON object. Returns false on
   * backpressure.
   */
  forward(parts: Buffer[]): boolean {
    if (this.#isClosed) return true;
    this.#corkInput();
    for (const part of parts) this.#input.write(part);
    return this.#input.write('\0');
  }

  /**
   * Sends all messages of this session to `listener`, unchanged, except answers to the worker's own
   * commands.
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

  /** True while reading is paused because the page exceeded its event budget. */
  paused(): boolean {
    return this.#resumes !== undefined;
  }

  /**
   * True after a page exceeded its event budget: the next page would inherit its backlog and the
   * rest of its budget.
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
    // Chrome answers a command that it cannot parse with neither an id nor a session.
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

  /** Chrome buffers unread output, so a page that continues reaches its memory limit. */
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
      reject(new PipeClosed(`Chrome exited before it responded to ${method}`));
    this.#pending.clear();
    this.#routes.clear();
    this.#closing.resolve();
  }
}
