// What can go wrong with MongoDB, in the words that the rest of the API decides by.
import {
  MongoBulkWriteError,
  MongoError,
  MongoNetworkError,
  MongoNetworkTimeoutError,
  MongoServerError,
  MongoServerSelectionError,
  MongoWriteConcernError,
} from 'mongodb';

/** An operation did not answer in the time that it had. It may still arrive. */
export class DatabaseTimeout extends Error {
  override name = 'DatabaseTimeout';
  readonly limitMs: number;

  constructor(limitMs: number) {
    super(`MongoDB did not answer within ${limitMs} ms`);
    this.limitMs = limitMs;
  }
}

/**
 * There is no primary, and has been none for so long that an operation would only use up its time:
 * it was not sent at all.
 */
export class NoPrimary extends Error {
  override name = 'NoPrimary';

  constructor(missingMs: number) {
    super(`MongoDB has had no primary that answers for ${Math.round(missingMs / 1_000)} s`);
  }
}

/**
 * Transient server errors: the primary changes (those of https://github.com/mongodb/specifications,
 * "retryable writes"), the time limit was exceeded, there is no quorum, or data is stale.
 */
const PASSING = new Set([
  ...[6, 7, 89, 91, 189, 262, 9001, 10107, 11600, 11602, 13435, 13436],
  ...[50, 64, 100, 134, 202, 10058, 13388],
]);

/**
 * True when MongoDB could not be reached or could not do its work now; false for a mistake of ours
 * or of the configuration.
 */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (
    error instanceof DatabaseTimeout ||
    error instanceof NoPrimary ||
    error instanceof MongoWriteConcernError
  )
    return true;
  if (error instanceof MongoServerError)
    return PASSING.has(Number(error.code)) || error.hasErrorLabel('RetryableWriteError');
  return error instanceof MongoError;
}

/** MaxTimeMSExpired, WriteConcernTimeout, NetworkInterfaceExceededTimeLimit, ExceededTimeLimit. */
const OUT_OF_TIME = new Set([50, 64, 202, 262]);

/**
 * Repeats a write when its connection broke and the driver did not repeat it. It must be safe to
 * repeat. When all connections break at once, as when MongoDB dies, the first error clears the
 * driver's pool, and writes on the other connections lack the label of retryable errors (driver
 * 7.8).
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

/** True when an operation ended because its time was over, wherever that was noticed. */
export const isTimeout = (error: unknown): boolean =>
  error instanceof DatabaseTimeout ||
  error instanceof MongoNetworkTimeoutError ||
  error instanceof MongoServerSelectionError ||
  (error instanceof MongoError &&
    (OUT_OF_TIME.has(Number(error.code)) || error.name === 'MongoWaitQueueTimeoutError'));

/** True when the server itself said no, so that nothing of the operation is still on its way. */
export const isServerAnswer = (error: unknown): boolean => error instanceof MongoServerError;

/** True when a unique index refused the document. */
export const isDuplicate = (error: unknown): boolean =>
  error instanceof MongoServerError && error.code === 11000;

/**
 * An upsert of a document that another process may make at the same moment: then it is there, and
 * the second time finds it.
 */
export async function upserted<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (!isDuplicate(error)) throw error;
    return run();
  }
}

/**
 * Of a bulk write: which of its operations a unique index refused, when nothing else went wrong
 * with any; undefined when something did.
 */
export function duplicatesOf(error: unknown): number[] | undefined {
  if (!(error instanceof MongoBulkWriteError) || error.result.getWriteConcernError())
    return undefined;
  const errors = [error.writeErrors].flat();
  return errors.length > 0 && errors.every(({ code }) => code === 11000)
    ? errors.map(({ index }) => index)
    : undefined;
}

/**
 * True when MongoDB refused the user or the password. Atlas has a code of its own for that and much
 * else.
 */
export const isLoginRefused = (error: unknown): boolean =>
  error instanceof MongoServerError &&
  (error.code === 18 || (error.code === 8000 && /auth/i.test(error.message)));

/** True when the login is good, or none was asked for, and what was asked is not allowed. */
export const isForbidden = (error: unknown): boolean =>
  error instanceof MongoServerError && error.code === 13;

/**
 * Waits for `operation`, but at most `limitMs`: then rejects with DatabaseTimeout. The operation
 * itself goes on (a sent command can not be called back), and its late end is the caller's to care
 * for. Our own clock is needed: the driver's `timeoutMS` has no effect since 7.8.
 */
export function withinMs<T>(limitMs: number, operation: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new DatabaseTimeout(limitMs)), limitMs);
    operation.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
