// More API processes of an installation for single tests: they end with the test that started them,
// however it ends.
import { type ConsoleFixture, consoleFixture } from './console/console-fixture.ts';

type Options = Omit<NonNullable<Parameters<typeof consoleFixture>[0]>, 'uri' | 'workers'>;

/**
 * Call it inside `describe`; the function it gives starts one that has no workers, on the database
 * of `fixture`.
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
 * Each call meets the next of these processes; the last one goes on with the rest, unless they go
 * `round`.
 */
export function inTurn(
  processes: readonly ConsoleFixture[],
  { round = false } = {},
): { api: { port(): number } } {
  let turn = 0;
  const next = () => (round ? turn++ % processes.length : Math.min(turn++, processes.length - 1));
  return { api: { port: () => processes[next()]!.api.port() } };
}
