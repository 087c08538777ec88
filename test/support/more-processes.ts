// Additional API processes of an installation. They stop after the test that started them.
import { type ConsoleFixture, consoleFixture } from './console/console-fixture.ts';

type Options = Omit<NonNullable<Parameters<typeof consoleFixture>[0]>, 'uri' | 'workers'>;

/**
 * Call inside `describe`. Returns a function that starts an API process without workers on the
 * database of `fixture`.
 */
export function moreProcesses(): (
  fixture: Pick<ConsoleFixture, 'uri'>,
  options?: Options,
) => Promise<ConsoleFixture> {
  const started: ConsoleFixture[] = [];
  afterEach(async () => {
    for (const each of started.splice(0)) await each.stop();
  });
  return async ({ uri }, options = {}) => {
    const made = await consoleFixture({ ...options, workers: 0, uri });
    started.push(made);
    return made;
  };
}

/**
 * Sends each call to the next process. After the last process, calls stay with it, or start again
 * at the first one when `round` is true.
 */
export function inTurn(
  processes: readonly ConsoleFixture[],
  { round = false } = {},
): { api: { port(): number } } {
  let turn = 0;
  const next = () => (round ? turn++ % processes.length : Math.min(turn++, processes.length - 1));
  return { api: { port: () => processes[next()]!.api.port() } };
}
