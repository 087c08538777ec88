// What a slot's client says to its page, at once or when the page has come so far. Owns what waits for what; what may be said, the filter knows.
import type { PageEvent } from '../../common/protocol.ts';
import { answerId } from '../cdp-pipe.ts';
import type { Filtered } from './cdp-filter.ts';

type Deferred = Extract<Filtered, { kind: 'deferred' }>;
type Command = Deferred | Extract<Filtered, { kind: 'forward' }>;

/** Html is being written into the page. The blank document that was there before may have its own load event late, when the slot is claimed already. */
const WRITTEN = 'Page.documentOpened';
const LOADED = 'Page.loadEventFired' satisfies PageEvent;
/** An API defers a print, its first read, and what it says of the page's rules. */
const MOST_WAITING = 8;
/** A PDF as a stream is told in less; one that is in the answer itself has no handle. */
const MAX_ANSWER_BYTES = 1_024;

export interface Commands {
  /** False when too many wait already. */
  take(command: Command): boolean;
  /** To be called with all that the page says: the name of an event, or undefined for an answer. True when it may be told with what follows (see `lingers`). */
  hear(event: string | undefined, frame: Buffer): boolean;
  /** True while a command waits for the load event: the client can do nothing with an answer before that. */
  lingers(): boolean;
}

const isShort = (frame: Buffer) => frame.length <= MAX_ANSWER_BYTES;

const ERROR = Buffer.from(',"error":');
/** Chrome writes the id first, and what it is an answer of next. */
const isError = (frame: Buffer) => frame.indexOf(ERROR) === frame.indexOf(0x2c);

/** The handle of what was printed, or undefined when nothing was. */
const streamOf = (frame: Buffer): string | undefined => (isShort(frame) ? JSON.parse(frame.toString()).result?.stream : undefined);

/** For one slot. `refuse` answers a read for which there is no PDF. */
export function createCommands(send: (parts: Buffer[]) => void, refuse: (id: number) => void): Commands {
  let written = false;
  /** Each of the two is undefined when nobody has to wait any more. */
  let untilLoaded: Deferred[] | undefined = [];
  /** The last that was said. */
  let print: { id: number; waited: boolean; reads: Deferred[] | undefined; stream?: string | undefined } | undefined;

  function go(command: Deferred): void {
    if (command.until === 'loaded') send(command.write(''));
    else if (print?.stream === undefined) refuse(command.id);
    else send(command.write(print.stream));
  }

  function defer(command: Deferred): boolean {
    const line = command.until === 'loaded' ? untilLoaded : print?.reads;
    if (line && (untilLoaded?.length ?? 0) + (print?.reads?.length ?? 0) >= MOST_WAITING) return false;
    if (line) line.push(command);
    else go(command);
    return true;
  }

  const lingers = () => (untilLoaded?.length ?? 0) > 0;

  return {
    take(command) {
      if (command.prints !== undefined) {
        for (const { id } of print?.reads ?? []) refuse(id);
        print = { id: command.prints, waited: command.kind === 'deferred', reads: [] };
      }
      if (command.kind === 'deferred') return defer(command);
      send(command.parts);
      return true;
    },
    hear(event, frame) {
      if (event === WRITTEN) {
        written = true;
        untilLoaded ??= [];
      } else if (event === LOADED && written) {
        const waiting = untilLoaded ?? [];
        untilLoaded = undefined;
        waiting.forEach(go);
      } else if (event === undefined && print?.reads && answerId(frame) === print.id) {
        const waiting = print.reads;
        print = { ...print, reads: undefined, stream: streamOf(frame) };
        waiting.forEach(go);
        // A client that has not left the print to us may have something to ask as soon as it knows of it.
        return print.waited && waiting.length > 0 && print.stream !== undefined;
      }
      return event === undefined && lingers() && isShort(frame) && !isError(frame);
    },
    lingers,
  };
}
