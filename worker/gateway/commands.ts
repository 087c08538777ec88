// What a slot's client says to its page, at once or when the page has come so far. Owns what waits for what; what may be said, the filter knows.
import type { PageEvent } from '../../common/protocol.ts';
import { answerId } from '../cdp-pipe.ts';
import type { Filtered } from './cdp-filter.ts';

type Deferred = Extract<Filtered, { kind: 'deferred' }>;
type Command = Deferred | Extract<Filtered, { kind: 'forward' }>;

/** Html is being written into the page. The blank document that was there before may have its own load event late, when the slot is claimed already. */
const WRITTEN = 'Page.documentOpened';
const LOADED = 'Page.loadEventFired' satisfies PageEvent;
/** An API defers a print and two reads, and what it says of the page's rules. */
const MOST_WAITING = 8;
/** A PDF as a stream is told in less; one that is in the answer itself has no handle. */
const MAX_ANSWER_BYTES = 1_024;

export interface Commands {
  /** False when too many wait already. */
  take(command: Command): boolean;
  /** To be called with all that the page says: the name of an event, or undefined for an answer. */
  hear(event: string | undefined, frame: Buffer): void;
}

/** The handle of what was printed, or undefined when nothing was. */
function streamOf(frame: Buffer): string | undefined {
  return frame.length > MAX_ANSWER_BYTES ? undefined : JSON.parse(frame.toString()).result?.stream;
}

/** For one slot. `refuse` answers a read for which there is no PDF. */
export function createCommands(send: (parts: Buffer[]) => void, refuse: (id: number) => void): Commands {
  let [written, loaded] = [false, false];
  const untilLoaded: Deferred[] = [];
  /** The last that was said. */
  let print: { id: number; answered: boolean; stream?: string | undefined; reads: Deferred[] } | undefined;

  function read(command: Deferred): void {
    if (print?.stream === undefined) refuse(command.id);
    else send(command.write(print.stream));
  }

  function wait(command: Deferred): boolean {
    const waiting = untilLoaded.length + (print?.reads.length ?? 0);
    if (waiting >= MOST_WAITING) return false;
    if (command.until === 'loaded') untilLoaded.push(command);
    else print?.reads.push(command);
    return true;
  }

  return {
    take(command) {
      if (command.prints !== undefined) {
        for (const { id } of print?.reads ?? []) refuse(id);
        print = { id: command.prints, answered: false, reads: [] };
      }
      if (command.kind === 'forward') send(command.parts);
      else if (command.until === 'loaded' ? !loaded : print?.answered === false) return wait(command);
      else if (command.until === 'loaded') send(command.write(''));
      else read(command);
      return true;
    },
    hear(event, frame) {
      if (event === WRITTEN) [written, loaded] = [true, false];
      else if (event === LOADED && written) {
        loaded = true;
        for (const command of untilLoaded.splice(0)) send(command.write(''));
      } else if (event === undefined && print?.answered === false && answerId(frame) === print.id) {
        print.answered = true;
        print.stream = streamOf(frame);
        for (const command of print.reads.splice(0)) read(command);
      }
    },
  };
}
