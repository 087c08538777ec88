// Checks that no resource stays in use after a scenario, whatever failed in it: in the database, in
// the process trees of the workers, and in their metrics.
import { setTimeout as sleep } from 'node:timers/promises';
import { chromeProcesses } from './chrome-processes.ts';
import type { Deployment, Replica } from './deployment.ts';

/** A lease of 15 s, and as much again until the last faults of a scenario are detected. */
const QUIET_MS = 20_000;
/**
 * The most leases of an account in a scenario, including expired ones: plans are small, and few
 * renders are lost.
 */
const MOST_LEASES = 500;

/** The number of Chrome's processes below a process, by kind. */
export function chromesOf(pid: number): Record<string, number> {
  const kinds: Record<string, number> = {};
  for (const { kind } of chromeProcesses(pid)) kinds[kind] = (kinds[kind] ?? 0) + 1;
  return kinds;
}

/** What an idle worker still holds. */
async function restless(worker: Replica): Promise<string[]> {
  if (!worker.process.alive()) return [];
  const { name, pid } = worker.process;
  const metrics = await worker.process.metrics();
  const slots = metrics.by('pressroom_slots', 'state');
  const problems = ['starting', 'claimed', 'closing', 'restarting']
    .filter(state => slots[state] !== 0)
    .map(state => `${name}: ${slots[state]} slots are ${state}`);
  const { browser = 0, renderer = 0 } = chromesOf(pid);
  const ready = slots['ready'] ?? 0;
  if (browser > ready)
    problems.push(`${name}: ${browser} browser processes for ${ready} ready slots`);
  if (renderer > ready * RENDERERS)
    problems.push(`${name}: ${renderer} renderer processes for ${ready} ready slots`);
  return problems;
}

/** Renderers of an idle Chrome: its ready page, and a spare one for the next page. */
const RENDERERS = 2;

/** The resources still held, as sentences; empty when everything is idle. */
export async function leftovers(deployment: Deployment): Promise<string[]> {
  const problems = (await Promise.all(deployment.workers.map(restless))).flat();
  for (const api of deployment.apis) {
    if (!api.process.alive()) continue;
    const metrics = await api.process.metrics();
    for (const name of ['pressroom_queue_depth', 'pressroom_leases_held'])
      if (metrics.sum(name) !== 0)
        problems.push(`${api.process.name}: ${name} is ${metrics.sum(name)}`);
  }
  for (const account of deployment.accounts) {
    const { leases } = await account.read();
    const unexpired = await account.leases();
    if (unexpired > 0) problems.push(`${account.name}: ${unexpired} unexpired leases`);
    if (leases.length > MOST_LEASES)
      problems.push(`${account.name}: an array of ${leases.length} leases`);
  }
  return problems;
}

/**
 * Resolves when no resource is held any more; rejects after 20 s with those that are. Call it after
 * the last response of the scenario.
 */
export async function quiet(deployment: Deployment): Promise<void> {
  let problems: string[] = [];
  for (const end = performance.now() + QUIET_MS; performance.now() < end; await sleep(250)) {
    problems = await leftovers(deployment);
    if (problems.length === 0) return;
  }
  throw new Error(
    `After 20 s of quiet something is still held:\n${problems.map(line => `  ${line}`).join('\n')}`,
  );
}
