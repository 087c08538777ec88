// Lets calls through one at a time, each in a turn of the event loop of its own.

/**
 * Gives what a call waits for. Whatever else is ready, customers' calls and the words of Chrome, goes between two calls that came through here: hundreds of callers
 * who are refused at the same moment would hold all of that up otherwise, at every step of a render.
 */
export function createTurnstile(): () => Promise<void> {
  const waiting: (() => void)[] = [];

  function letOneThrough(): void {
    waiting.shift()!();
    if (waiting.length > 0) setImmediate(letOneThrough);
  }

  return () =>
    new Promise(resolve => {
      if (waiting.push(resolve) === 1) setImmediate(letOneThrough);
    });
}
