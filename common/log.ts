// The log: JSON lines by pino with constant messages and values in named fields. Never log HTML,
// CSS, JavaScript, URL queries, API keys, cookies, header values or passwords.
import { setTimeout as sleep } from 'node:timers/promises';
import { type DestinationStream, type Logger, pino } from 'pino';

export type Log = Logger;

/**
 * `level` is pino's. `process` is the role (`api`, `worker`, `standalone`) in every line. `stream`
 * receives the lines (default: stdout).
 */
export function createLog(level: string, process: string, stream?: DestinationStream): Log {
  const settings = {
    level,
    base: { process },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { err: pino.stdSerializers.err },
  };
  // With the default of 0, pino reports a flush as complete too early.
  return pino(settings, stream ?? pino.destination({ minLength: 1 }));
}

const WRITTEN_WITHIN_MS = 1_000;

/**
 * Exits when the last line is written, or after a second. At exit, pino would retry forever to write
 * to a closed pipe (sonic-boom 4.2: `flushSync` handles EPIPE like a full pipe).
 */
export async function exitAfter(log: Log, code: number): Promise<never> {
  const written = new Promise(resolve => log.flush(resolve));
  await Promise.race([written, sleep(WRITTEN_WITHIN_MS)]);
  return process.exit(code);
}

/** For tests and tools without a log. */
export const silentLog: Log = pino({ level: 'silent' });
