// One line on a terminal while a command waits. Scripts see nothing.

const PROGRESS_MS = 1_000;

/** From the first second on. The line is gone when `work` has ended. */
export async function withProgress<T>(what: string, work: Promise<T>): Promise<T> {
  const { stderr } = process;
  if (!stderr.isTTY) return work;
  const startMs = performance.now();
  const timer = setInterval(() => {
    const seconds = Math.round((performance.now() - startMs) / 1000);
    stderr.write(`\r${what}: ${seconds} s\x1b[K`);
  }, PROGRESS_MS);
  try {
    return await work;
  } finally {
    clearInterval(timer);
    if (performance.now() - startMs >= PROGRESS_MS) stderr.write('\r\x1b[K');
  }
}
