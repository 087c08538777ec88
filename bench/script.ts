// Shared by the benchmark scripts: parses numbers, enforces a time limit, closes resources and
// prints the verdicts.
import { execFileSync } from 'node:child_process';
import { availableParallelism, cpus, loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { findChrome } from '../worker/browser/find-chrome.ts';
import { type Figure, isMet, verdict } from './figures.ts';

/** Environment as in `npm start`: a compile cache, which also saves memory, and a quiet log. */
export const USUAL = {
  NODE_COMPILE_CACHE:
    process.env.NODE_COMPILE_CACHE ??
    fileURLToPath(new URL('../../node_modules/.cache/compile', import.meta.url)),
  PRESSROOM_LOG_LEVEL: 'warn',
};

/** Accepted values of a number on the command line. */
export interface Rule {
  accepted: string;
  isGood(value: number): boolean;
}

export const whole = (from: number, to: number): Rule => ({
  accepted: `a whole number from ${from} to ${to}`,
  isGood: value => Number.isInteger(value) && value >= from && value <= to,
});

/** Parses numbers from the command line with defaults. Throws if one is not accepted. */
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
    if (!isGood(value)) throw new Error(`--${name} must be ${accepted}`);
    return [name, value] as const;
  });
  return Object.fromEntries(numbers) as Record<N, number>;
}

/** Describes the machine and its load. */
export const machine = () =>
  `${availableParallelism()} cores (${cpus()[0]?.model}), load ${loadavg()[0]!.toFixed(1)}`;

/** Describes the machine, Node.js and Chrome. */
export function machineLine(): string {
  const chrome = execFileSync(findChrome(process.env.PRESSROOM_CHROME), ['--version'], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  return `${machine()}; Node ${process.version}; ${chrome.trim()}`;
}

/** Registers a close function. The last one is called first, also after a failure. */
export type AtEnd = (close: () => Promise<unknown>) => void;

/**
 * Runs `work`, prints the verdicts and exits the process: with 1 if a target is missed, or if
 * `work` rejects or exceeds `limitMs`. `end` aborts `work`.
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
  const limit = setTimeout(stop, limitMs, `did not finish within ${limitMs / 60_000} min`);
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => stop(`stopped by ${signal}`));
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
