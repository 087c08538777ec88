// The console output of a page, for the render log. Read once, after the print or the failure,
// while the PDF is read: Chrome keeps a page's last thousand messages, so nothing is watched while
// it runs. The response then waits 0.5 ms for one line. Static documents have no output and are not
// read.
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
/** A page that hangs does not respond; its output is awaited for at most this long. */
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
/** Calls without output. */
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

/**
 * Clears `lines`, since a retried render has another page, and fills it with at most MAX_LINES.
 */
export function readConsole(session: Session, lines: ConsoleLine[]) {
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
    /**
     * Requests the output, without waiting. The lines are complete when `received` resolves. Further
     * calls do nothing.
     */
    request(): void {
      if (asked) return;
      session.on('Runtime.consoleAPICalled', ({ type, args }) => {
        if (SILENT.has(type) || String(args[0]?.value).startsWith(SCRIPT_RAN)) return;
        add(LEVELS[type] ?? 'log', textOf(args));
      });
      session.on('Runtime.exceptionThrown', ({ exceptionDetails }) =>
        add('error', errorText(exceptionDetails)),
      );
      // Enabling the domain reports the kept messages; `javascript` from a URL may have enabled it
      // before.
      asked = Promise.all([
        session.command('Runtime.disable'),
        session.command('Runtime.enable'),
      ]).catch(() => {});
    },
    /**
     * Resolves when all output has arrived, or as much as is kept, or after WAIT_MS. Never rejects.
     */
    async received(): Promise<void> {
      const over = new AbortController();
      await Promise.race([
        asked,
        full.promise,
        sleep(WAIT_MS, undefined, { signal: over.signal }).catch(() => {}),
      ]);
      over.abort();
    },
    /** Adds what an inline script threw, which Chrome does not report. */
    threw: (text: string): void => add('error', text),
  };
}
