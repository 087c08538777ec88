// More API processes of an installation for single tests: they end with the test that started them,
// however it ends.
import { type ConsoleRig, consoleRig } from './console/console-rig.ts';

type Options = Omit<NonNullable<Parameters<typeof consoleRig>[0]>, 'uri' | 'workers'>;

/**
 * Call it inside `describe`; the function it gives starts one that has no workers, on the database
 * of `rig`.
 */
export function moreProcesses(): (
  rig: Pick<ConsoleRig, 'uri'>,
  options?: Options,
) => Promise<ConsoleRig> {
  const started: ConsoleRig[] = [];
  afterEach(async () => {
    for (const each of started.splice(0)) await each.stop();
  });
  return async ({ uri }, options = {}) => {
    const made = await consoleRig({ ...options, workers: 0, uri });
    started.push(made);
    return made;
  };
}

/**
 * Each call meets the next of these processes; the last one goes on with the rest, unless they go
 * `round`.
 */
export function inTurn(
  processes: readonly ConsoleRig[],
  { round = false } = {},
): { api: { port(): number } } {
  let turn = 0;
  const next = () => (round ? turn++ % processes.length : Math.min(turn++, processes.length - 1));
  return { api: { port: () => processes[next()]!.api.port() } };
}
