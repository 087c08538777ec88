// What a scenario can see of a worker and its Chrome from the outside: processes, probes, folders, and the numbers that an operator would look at.
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ChromeProcess, chromeProcesses } from './chrome-processes.ts';
import type { Seat } from './site.ts';

export const ofKind = (worker: Seat, kind: string): ChromeProcess[] =>
  chromeProcesses(worker.process.pid).filter(each => each.kind === kind);

/** The browser process that has lived longest. Throws when there is none. */
export function browserOf(worker: Seat): number {
  const [browser] = ofKind(worker, 'browser');
  if (!browser) throw new Error(`${worker.process.name} has no Chrome`);
  return browser.pid;
}

const cpuTicks = (pid: number): number => {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  return Number(fields[11]) + Number(fields[12]);
};

/** A script before a page's own, so that its renderer is known by the time that it has used. */
export const BUSY_FIRST = '<script>for (let i = 0; i < 6e8; i++);</script>';

/** The renderer that has used most time. */
export function busiestRenderer(worker: Seat): number {
  const [busiest] = ofKind(worker, 'renderer').sort((a, b) => cpuTicks(b.pid) - cpuTicks(a.pid));
  return busiest!.pid;
}

/** Chromes started and ended so far, by why; reasons that have not come up are left out. */
export async function chromeLives(worker: Seat): Promise<{ starts: Record<string, number>; deaths: Record<string, number> }> {
  const metrics = await worker.process.metrics();
  const some = (name: string) => Object.fromEntries(Object.entries(metrics.by(name, 'reason')).filter(([, times]) => times > 0));
  return { starts: some('pressroom_chrome_starts_total'), deaths: some('pressroom_chrome_deaths_total') };
}

/** The profile folders in `folder` of the worker's process. */
export const profilesIn = (folder: string, workerPid: number): string[] =>
  readdirSync(folder).filter(name => name.startsWith(`pressroom-chrome-${workerPid}-`));

export interface Sighting {
  /** Browser processes below the worker. */
  browsers: number;
  readyz: number;
  livez: number;
  /** Slots that are ready or claimed. */
  usable: number;
}

/** Looks at a worker again and again until `stop`, which gives all that was seen. */
export function watchWorker(worker: Seat, everyMs = 50): { stop(): Promise<Sighting[]> } {
  const seen: Sighting[] = [];
  let stopped = false;
  async function look(): Promise<void> {
    while (!stopped) {
      const [readyz, livez, metrics] = await Promise.all([
        worker.process.probe('/readyz'),
        worker.process.probe('/livez'),
        worker.process.metrics(),
      ]);
      const slots = metrics.by('pressroom_slots', 'state');
      seen.push({ browsers: ofKind(worker, 'browser').length, readyz, livez, usable: (slots['ready'] ?? 0) + (slots['claimed'] ?? 0) });
      await sleep(everyMs);
    }
  }
  const over = look();
  return {
    stop: async () => {
      stopped = true;
      await over;
      return seen;
    },
  };
}
