// Classifies MongoDB errors for the rest of the API, and repeats or limits operations.
import {
  MongoBulkWriteError,
  MongoError,
  MongoNetworkError,
  MongoNetworkTimeoutError,
  MongoServerError,
  MongoServerSelectionError,
  MongoWriteConcernError,
} from 'mongodb';

/** An operation was not answered within its time limit. MongoDB may still execute it. */
export class DatabaseTimeout extends Error {
  override name = 'DatabaseTimeout';

  constructor(limitMs: number) {
    super(`MongoDB did not respond within ${limitMs} ms`);
  }
}

/** MongoDB has had no primary for so long that the operation was not sent. */
export class NoPrimary extends Error {
  override name = 'NoPrimary';

  constructor(missingMs: number) {
    super(`MongoDB has had no reachable primary for ${Math.round(missingMs / 1_000)} s`);
  }
}

/**
 * Transient server errors: a change of the primary ("retryable writes" in
 * https://github.com/mongodb/specifications), an exceeded time limit, no quorum, or stale data.
 */
const TRANSIENT = new Set([
  ...[6, 7, 89, 91, 189, 262, 9001, 10107, 11600, 11602, 13435, 13436],
  ...[50, 64, 100, 134, 202, 10058, 13388],
]);

/** True when MongoDB is unreachable or temporarily failing; false for a bug or a misconfiguration. */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (
    error instanceof DatabaseTimeout ||
    error instanceof NoPrimary ||
    error instanceof MongoWriteConcernError
  )
    return true;
  if (error instanceof MongoServerError)
    return TRANSIENT.has(Number(error.code)) || error.hasErrorLabel('RetryableWriteError');
  return error instanceof MongoError;
}

/** MaxTimeMSExpired, WriteConcernTimeout, NetworkInterfaceExceededTimeLimit, ExceededTimeLimit. */
const OUT_OF_TIME = new Set([50, 64, 202, 262]);

/**
 * Repeats an idempotent write whose connection broke and that the driver did not repeat. When all
 * connections break at once, the first error clears the driver's pool, and writes on the other
 * connections lack the label of retryable errors (driver 7.8).
 */
export async function repeatedOnce<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    const repeated = error instanceof MongoError && error.hasErrorLabel('RetryableWriteError');
    if (repeated || !(error instanceof MongoNetworkError)) throw error;
    return write();
  }
}

/** True when an operation exceeded a time limit, of the server, the driver or this process. */
export const isTimeout = (error: unknown): boolean =>
  error instanceof DatabaseTimeout ||
  error instanceof MongoNetworkTimeoutError ||
  error instanceof MongoServerSelectionError ||
  (error instanceof MongoError &&
    (OUT_OF_TIME.has(Number(error.code)) || error.name === 'MongoWaitQueueTimeoutError'));

/** True when the server returned an error, so that no command is still in progress. */
export const isServerAnswer = (error: unknown): boolean => error instanceof MongoServerError;

/** True when a unique index rejected the document. */
export const isDuplicate = (error: unknown): boolean =>
  error instanceof MongoServerError && error.code === 11000;

/** Repeats an upsert once when another process inserted the document at the same time. */
export async function upserted<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (!isDuplicate(error)) throw error;
    return run();
  }
}

/**
 * The indexes of the bulk operations that a unique index rejected. Undefined when any operation
 * failed for another reason.
 */
export function duplicatesOf(error: unknown): number[] | undefined {
  if (!(error instanceof MongoBulkWriteError) || error.result.getWriteConcernError())
    return undefined;
  const errors = [error.writeErrors].flat();
  return errors.length > 0 && errors.every(({ code }) => code === 11000)
    ? errors.map(({ index }) => index)
    : undefined;
}

/** True when MongoDB rejected the user or the password. Atlas uses the generic code 8000 for it. */
export const isLoginRejected = (error: unknown): boolean =>
  error instanceof MongoServerError &&
  (error.code === 18 || (error.code === 8000 && /auth/i.test(error.message)));

/** True when the user, or a client without a login, lacks the permission. */
export const isForbidden = (error: unknown): boolean =>
  error instanceof MongoServerError && error.code === 13;

/**
 * Waits for `operation` for at most `limitMs`, then rejects with DatabaseTimeout. The operation
 * continues, and the caller must handle its late result. The driver's own `timeoutMS` has no effect
 * since 7.8.
 */
export function withinMs<T>(limitMs: number, operation: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new DatabaseTimeout(limitMs)), limitMs);
    operation.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
