// The log: JSON lines by pino, a constant message and values as fields. Never html, css, javascript, a URL's query, a key, a cookie,
// a header's value or a password: callers pass named fields, and what a field may hold is said where it is logged.
import { type Logger, pino } from 'pino';

export type Log = Logger;

/** `level` is pino's; `process` names the role (`api`, `worker`, `standalone`) and stands in every line. */
export function createLog(level: string, process: string): Log {
  return pino({
    level,
    base: { process },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: label => ({ level: label }) },
    serializers: { err: pino.stdSerializers.err },
  });
}

/** For tests and tools that say nothing. */
export const silentLog: Log = pino({ level: 'silent' });
