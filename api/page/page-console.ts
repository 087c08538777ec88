// What a page wrote to its console, for who keeps a log of renders. Asked for once, when the page
// is printed or has failed: Chrome keeps a page's last thousand messages by itself, so that nothing
// is watched while it runs and no flood of them comes. While the PDF is read, which most often
// takes as long: the answer waited 0.5 ms of 133 for a page with one line (medians of 60 on a busy
// machine; 4 ms of 424 for one with a table, 13 of 192 for 200 lines before it ended at the
// fiftieth); the CPU of 200 renders was 0.97 of that without it (median of 24 rounds in turn). A
// page that nothing can write in (static-document.ts) is not asked at all.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Protocol } from 'devtools-protocol';
import type { Session } from '../workers/session.ts';
import { SCRIPT_RAN } from './javascript.ts';

export interface ConsoleLine {
  level: 'debug' | 'log' | 'info' | 'warn' | 'error';
  text: string;
}

export const MAX_LINES = 50;
export const MAX_LINE_LENGTH = 500;
/** A page that hangs does not answer; nobody waits for its words longer than this. */
const WAIT_MS = 100;

const LEVELS: Partial<
  Record<Protocol.Runtime.ConsoleAPICalledEvent['type'], ConsoleLine['level']>
> = {
  error: 'error',
  assert: 'error',
  warning: 'warn',
  info: 'info',
  debug: 'debug',
};
/** They write nothing. */
const SILENT: ReadonlySet<string> = new Set(['clear', 'endGroup', 'profile', 'profileEnd']);

const cut = (text: string) =>
  (text.length > MAX_LINE_LENGTH ? `${text.slice(0, MAX_LINE_LENGTH - 1)}…` : text).toWellFormed();

function wordOf({
  type,
  subtype,
  value,
  unserializableValue,
  description,
}: Protocol.Runtime.RemoteObject): string {
  if (type === 'undefined' || subtype === 'null') return subtype ?? type;
  return String(value ?? unserializableValue ?? description ?? type);
}

const textOf = (args: Protocol.Runtime.RemoteObject[]) => args.map(wordOf).join(' ');

/** The first line of what was thrown: the others are the stack. */
const errorText = ({ text, exception }: Protocol.Runtime.ExceptionDetails) =>
  [text, ...(exception ? [wordOf(exception).split('\n')[0]] : [])].join(' ');

export interface PageConsole {
  /**
   * Asks Chrome, without waiting. What comes is in the lines when `heard` resolves. The second call
   * does nothing.
   */
  ask(): void;
  /**
   * Resolves when the page has told all, or as much as is kept, or after a moment. Never rejects.
   */
  heard(): Promise<void>;
}

/**
 * `lines` are emptied, since a render that is tried again has another page, and get at most
 * MAX_LINES.
 */
export function readConsole(session: Session, lines: ConsoleLine[]): PageConsole {
  let asked: Promise<unknown> | undefined;
  const full = Promise.withResolvers<void>();
  lines.length = 0;

  function add(level: ConsoleLine['level'], text: string): void {
    if (lines.length < MAX_LINES) lines.push({ level, text: cut(text) });
    else {
      lines[MAX_LINES - 1] = { level: 'info', text: 'console output was truncated' };
      full.resolve();
    }
  }

  return {
    ask() {
      if (asked) return;
      session.on('Runtime.consoleAPICalled', ({ type, args }) => {
        if (SILENT.has(type) || String(args[0]?.value).startsWith(SCRIPT_RAN)) return;
        add(LEVELS[type] ?? 'log', textOf(args));
      });
      session.on('Runtime.exceptionThrown', ({ exceptionDetails }) =>
        add('error', errorText(exceptionDetails)),
      );
      // It tells what it has kept when it begins; a script loaded from an address may have begun
      // before.
      asked = Promise.all([
        session.command('Runtime.disable'),
        session.command('Runtime.enable'),
      ]).catch(() => {});
    },
    async heard() {
      const over = new AbortController();
      await Promise.race([
        asked,
        full.promise,
        sleep(WAIT_MS, undefined, { signal: over.signal }).catch(() => {}),
      ]);
      over.abort();
    },
  };
}
