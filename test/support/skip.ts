// Skips a test with a reason. The reporter prints it and counts a skip without one as a failure.

/**
 * Skips the running test, or the whole suite when called in `before`. `reason` is a sentence that
 * names what is missing.
 */
export function skip(context: Mocha.Context, reason: string): never {
  const runnable = context.test as Mocha.Runnable & { type: string };
  Object.assign(runnable.type === 'hook' ? runnable.parent! : runnable, { skipReason: reason });
  return context.skip();
}
