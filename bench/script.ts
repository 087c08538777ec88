// What every script beside the bench does: reads numbers from the command line, ends within a
// bound, closes what it opened, and says what is met.
import { execFileSync } from 'node:child_process';
import { availableParallelism, cpus, loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { findChrome } from '../worker/browser/find-chrome.ts';
import { type Figure, isMet, verdict } from './figures.ts';

/**
 * What processes of a script's own have as `npm start` gives it: compiled code that is kept, which
 * is less memory too, and a quiet log.
 */
export const USUAL = {
  NODE_COMPILE_CACHE:
    process.env.NODE_COMPILE_CACHE ??
    fileURLToPath(new URL('../../node_modules/.cache/compile', import.meta.url)),
  PRESSROOM_LOG_LEVEL: 'warn',
};

/** What a number on the command line must be. */
export interface Rule {
  accepted: string;
  isGood(value: number): boolean;
}

export const whole = (from: number, to: number): Rule => ({
  accepted: `a whole number from ${from} to ${to}`,
  isGood: value => Number.isInteger(value) && value >= from && value <= to,
});

/**
 * Numbers from the command line, by their names and defaults. Throws when one is not what its rule
 * says.
 */
export function readNumbers<N extends string>(
  defaults: Record<N, number>,
  usual = whole(1, 1e7),
  rules: Partial<Record<N, Rule>> = {},
) {
  const names = Object.keys(defaults) as N[];
  const { values } = parseArgs({
    options: Object.fromEntries(names.map(name => [name, { type: 'string' as const }])),
  });
  const numbers = names.map(name => {
    const value = Number((values as Record<string, string | undefined>)[name] ?? defaults[name]);
    const { accepted, isGood } = rules[name] ?? usual;
    if (!isGood(value)) throw new Error(`--${name} is ${accepted}`);
    return [name, value] as const;
  });
  return Object.fromEntries(numbers) as Record<N, number>;
}

/** The machine, as the first words of what a script says of its run. */
export const machine = () =>
  `${availableParallelism()} cores (${cpus()[0]?.model}), load ${loadavg()[0]!.toFixed(1)}`;

/** A speed says nothing without the machine on which it was measured. */
export function machineLine(): string {
  const chrome = execFileSync(findChrome(process.env.PRESSROOM_CHROME), ['--version'], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  return `${machine()}; Node ${process.version}; ${chrome.trim()}`;
}

/** Says how it is closed, whatever happens; what was opened last is closed first. */
export type AtEnd = (close: () => Promise<unknown>) => void;

/**
 * Runs `work` and prints the verdict on its figures; the exit code is 1 when one is missed, `work`
 * rejects or does not end within `limitMs`. Ends the process: what `work` still waits for then
 * keeps nothing alive. `end` aborts when it is to stop.
 */
export async function runScript(
  limitMs: number,
  work: (atEnd: AtEnd, end: AbortSignal) => Promise<readonly Figure[]>,
): Promise<never> {
  const closing: (() => Promise<unknown>)[] = [];
  const end = new AbortController();
  const ended = Promise.withResolvers<never>();
  const stop = (why: string) => {
    end.abort(new Error(why));
    ended.reject(end.signal.reason);
  };
  const limit = setTimeout(stop, limitMs, `it did not end within ${limitMs / 60_000} min`);
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => stop(`ended by ${signal}`));
  const atEnd: AtEnd = close => {
    if (end.signal.aborted) void close();
    else closing.push(close);
  };
  let good = false;
  try {
    const figures = await Promise.race([work(atEnd, end.signal), ended.promise]);
    console.log(verdict(figures).join('\n'));
    good = figures.every(isMet);
  } catch (error) {
    console.error((error as Error).stack);
  }
  clearTimeout(limit);
  for (const close of closing.reverse())
    await close().catch((error: Error) => {
      good = false;
      console.error(error.stack);
    });
  process.exit(good ? 0 : 1);
}
