// Observes a worker and its Chrome from outside: processes, probes, folders and metrics.
import { readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../../support/eventually.ts';
import { processOf } from '../../support/processes.ts';
import { type ChromeProcess, chromeProcesses } from './chrome-processes.ts';
import type { Replica } from './deployment.ts';

/** Chrome's processes of this kind, below a worker or below the browser process of one Chrome. */
export const ofKind = (root: Replica | number, kind: string): ChromeProcess[] =>
  chromeProcesses(typeof root === 'number' ? root : root.process.pid).filter(
    each => each.kind === kind,
  );

/** The last logged browser process of each slot, by the slot's number, dead or alive. */
export function slotChromes({ process }: Replica): Record<number, number> {
  const started = process.log.filter(({ msg }) => msg === 'chrome is up');
  return Object.fromEntries(started.map(({ slot, pid }) => [slot, pid]));
}

/** Resolves when every slot of the worker waits for a render. */
export async function untilAllReady(
  { process }: Pick<Replica, 'process'>,
  limitMs?: number,
): Promise<void> {
  await eventually(async () => {
    const metrics = await process.metrics();
    const [ready, all] = [
      metrics.sum('pressroom_slots', { state: 'ready' }),
      metrics.sum('pressroom_slots_capacity'),
    ];
    if (all === 0 || ready !== all)
      throw new Error(`${process.name}: ${ready} of ${all} slots are ready`);
  }, limitMs);
}

const cpuMs = (pid: number): number => processOf(pid)?.ownMs ?? 0;

/** A script before the page's own that uses CPU, by which its renderer is recognised. */
export const BUSY_FIRST = '<script>for (let i = 0; i < 6e8; i++);</script>';

/** The renderer of a Chrome with the most CPU time: Chrome also keeps a spare one. */
export function busiestRenderer(browser: number): number {
  const [busiest] = ofKind(browser, 'renderer').sort((a, b) => cpuMs(b.pid) - cpuMs(a.pid));
  return busiest!.pid;
}

export interface Lives {
  starts: Record<string, number>;
  deaths: Record<string, number>;
}

/**
 * Chromes started and ended so far by reason, of the whole worker or of one slot. Contains only
 * reasons that have occurred.
 */
export async function chromeLives(worker: Replica, slot?: number): Promise<Lives> {
  const metrics = await worker.process.metrics();
  const labels: Record<string, string> = slot === undefined ? {} : { slot: String(slot) };
  const some = (name: string) =>
    Object.fromEntries(
      Object.entries(metrics.by(name, 'reason', labels)).filter(([, times]) => times > 0),
    );
  return {
    starts: some('pressroom_chrome_starts_total'),
    deaths: some('pressroom_chrome_deaths_total'),
  };
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

/** Samples a worker until `stop`, which returns all samples. */
export function watchWorker(worker: Replica, everyMs = 50): { stop(): Promise<Sighting[]> } {
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
      seen.push({
        browsers: ofKind(worker, 'browser').length,
        readyz,
        livez,
        usable: (slots['ready'] ?? 0) + (slots['claimed'] ?? 0),
      });
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
