// Starts the work of several tests at once, so that their waits overlap.

/**
 * Call inside `describe`, after the hooks that the work needs. Starts each row in a hook; a test
 * awaits its own with the returned function.
 */
export function startTogether<Row, Result>(
  rows: readonly Row[],
  start: (row: Row) => Promise<Result>,
): (row: Row) => Promise<Result> {
  const started = new Map<Row, Promise<Result>>();
  before(() => {
    for (const row of rows) {
      const work = start(row);
      // The test of the row reports it.
      work.catch(() => {});
      started.set(row, work);
    }
  });
  return row => started.get(row)!;
}
