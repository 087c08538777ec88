// Commands with a large text, written to the socket as one message in pieces. Made into JSON and written at once, the html of a body of 10 MB holds the event
// loop for 70 ms, which every other render of the process waits.
import { randomUUID } from 'node:crypto';
import { setImmediate as othersTurn } from 'node:timers/promises';

/** Characters that are made into JSON and written at one time: about a millisecond. */
export const PIECE_CHARS = 128 * 1_024;

/** Stands in a frame for the text that is set aside. */
const MARK = randomUUID();
const QUOTED_MARK = JSON.stringify(MARK);

interface Aside {
  /** With a mark for each text that is too large. */
  params: Record<string, unknown>;
  texts: string[];
}

/** Pure. Looks only at the members of `params` themselves: none that is large lies deeper. */
export function setAside(params: object = {}): Aside {
  const texts: string[] = [];
  const entries = Object.entries(params).map(([name, value]) => {
    if (typeof value !== 'string' || value.length <= PIECE_CHARS) return [name, value];
    texts.push(value);
    return [name, MARK];
  });
  return { params: texts.length > 0 ? Object.fromEntries(entries) : params, texts };
}

/** Pure. The frame's JSON, with the texts in the places of their marks. A character that is cut in two is still the same: JSON writes each half as an escape. */
export function* inPieces(frame: string, texts: readonly string[]): Generator<string> {
  const [head, ...tails] = frame.split(QUOTED_MARK);
  yield head!;
  for (const [nth, text] of texts.entries()) {
    yield '"';
    for (let at = 0; at < text.length; at += PIECE_CHARS) yield JSON.stringify(text.slice(at, at + PIECE_CHARS)).slice(1, -1);
    yield `"${tails[nth]}`;
  }
}

const OPEN = 1;

/** What is used here of a WebSocket of the package `ws`. */
export interface MessageSocket {
  /** 1 while it is open. */
  readonly readyState: number;
  send(data: string, done?: (error?: Error) => void): void;
  send(data: string, options: { fin: boolean }, done?: (error?: Error) => void): void;
}

export const isOpen = ({ readyState }: Pick<MessageSocket, 'readyState'>): boolean => readyState === OPEN;

type Send = (method: string, params?: object) => Promise<unknown>;

/**
 * Sends as `client` does, whose socket must write a frame in the same turn in which it is sent. While a large one is being written the others wait:
 * what comes between its pieces would become part of it. `gather` is called before each write.
 */
export function sendInPieces(client: { send: Send }, socket: MessageSocket, gather = () => {}): Send {
  const writeNow = socket.send.bind(socket) as (...of: unknown[]) => void;
  const write: MessageSocket['send'] = (...of: unknown[]) => {
    gather();
    writeNow(...of);
  };
  /** The command whose frame the socket is given next. */
  let next: { texts: string[]; written(): void } | undefined;
  /** Settles when the command that was sent last is written. */
  let last: Promise<void> | undefined;

  async function writeInPieces(frame: string, texts: string[], done?: (error?: Error) => void): Promise<void> {
    for (const piece of inPieces(frame, texts)) {
      if (!isOpen(socket)) break; // the last write tells the library
      write(piece, { fin: false });
      await othersTurn();
    }
    write('', { fin: true }, done);
  }

  socket.send = (frame: string, done?: unknown) => {
    const command = next;
    next = undefined;
    const onWritten = done as (error?: Error) => void;
    if (!command || command.texts.length === 0) {
      write(frame, onWritten);
      command?.written();
    } else void writeInPieces(frame, command.texts, onWritten).then(command.written);
  };

  return (method, given) => {
    const { params, texts } = setAside(given);
    if (!last && texts.length === 0) return client.send(method, params);
    const written = Promise.withResolvers<void>();
    const before = last;
    last = written.promise;
    void written.promise.then(() => {
      if (last === written.promise) last = undefined;
    });
    const send = () => {
      const mine = { texts, written: written.resolve };
      next = mine;
      const answer = client.send(method, params);
      if (next === mine) {
        // It was no frame: nobody may wait for it.
        next = undefined;
        written.resolve();
      }
      return answer;
    };
    return before ? before.then(send) : send();
  };
}
