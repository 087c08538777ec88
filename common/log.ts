// The log: JSON lines by pino, a constant message and values as fields. Never html, css,
// javascript, a URL's query, a key, a cookie, a header's value or a password: callers pass named
// fields, and what a field may hold is said where it is logged.
import { setTimeout as sleep } from 'node:timers/promises';
import { type Logger, pino } from 'pino';

export type Log = Logger;

/**
 * `level` is pino's; `process` names the role (`api`, `worker`, `standalone`) and stands in every
 * line.
 */
export function createLog(level: string, process: string): Log {
  const settings = {
    level,
    base: { process },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { err: pino.stdSerializers.err },
  };
  // With a length of nothing the library takes a flush for done.
  return pino(settings, pino.destination({ minLength: 1 }));
}

const WRITTEN_WITHIN_MS = 1_000;

/**
 * Ends the process when its last line is written, or when that cannot be. At its exit the library
 * would try again for ever to write into a pipe that nobody reads any more (sonic-boom 4.2:
 * `flushSync` takes EPIPE for a pipe that is full).
 */
export async function exitAfter(log: Log, code: number): Promise<never> {
  const written = new Promise(resolve => log.flush(resolve));
  await Promise.race([written, sleep(WRITTEN_WITHIN_MS)]);
  return process.exit(code);
}

/** For tests and tools that say nothing. */
export const silentLog: Log = pino({ level: 'silent' });
