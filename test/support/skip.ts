// Skips a test aloud: the reporter prints the reason, and counts a skip without one as a failure.

/**
 * Ends the running test as skipped, or all of the suite when called in its `before`. `reason` is a
 * sentence that says what is missing here.
 */
export function skip(context: Mocha.Context, reason: string): never {
  const runnable = context.test as Mocha.Runnable & { type: string };
  Object.assign(runnable.type === 'hook' ? runnable.parent! : runnable, { skipReason: reason });
  return context.skip();
}
