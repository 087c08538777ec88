// Detects what a row of hostile neighbours has left behind on the worker.
import { tmpdir } from 'node:os';
import type { ChromeProcess } from './chrome-processes.ts';
import type { Deployment } from './deployment.ts';
import { orphans } from './footprint.ts';
import { chromesOf, leftovers } from './quiet.ts';
import { profilesIn } from './worker-look.ts';

/** Memory that Node keeps for a while; a leak of a row would be larger. */
const WORKER_KEEPS_MIB = 200;
const MIB = 2 ** 20;

export interface Rest {
  /** Slots by state. */
  slots: Record<string, number>;
  /** Processes of Chrome by kind. */
  chromes: Record<string, number>;
  /** Of the worker's own process. */
  bytes: number;
}

/** The state of the worker while no render runs. */
export async function restOf({ workers: [worker] }: Deployment): Promise<Rest> {
  const { pid } = worker!.process;
  const slots = (await worker!.process.metrics()).by('pressroom_slots', 'state');
  return { slots, chromes: chromesOf(pid), bytes: (await worker!.process.memory()).nowBytes };
}

/** What is held or alive beyond `before`, as sentences. `seen`: Chrome's processes meanwhile. */
export async function remainsOf(
  deployment: Deployment,
  before: Rest,
  seen: readonly ChromeProcess[],
): Promise<string[]> {
  const { pid } = deployment.workers[0]!.process;
  const problems = await leftovers(deployment);
  const { slots, chromes, bytes } = await restOf(deployment);
  const [ready, capacity] = [slots['ready'] ?? 0, before.slots['ready'] ?? 0];
  if (ready !== capacity) problems.push(`${ready} of ${capacity} slots are ready`);
  const { browser: browsers = 0 } = before.chromes;
  for (const [kind, count] of Object.entries(chromes)) {
    // Each Chrome may have one more of a kind: a spare renderer, or a service that ends when idle.
    const most = (before.chromes[kind] ?? 0) + (kind === 'browser' ? 0 : browsers);
    if (count > most)
      problems.push(`${count} processes of Chrome are ${kind}, at most ${most} may be`);
  }
  for (const { kind, pid: orphan } of orphans(seen, pid))
    problems.push(`${kind} ${orphan} has no parent`);
  const profiles = profilesIn(tmpdir(), pid).length;
  if (profiles !== chromes['browser'])
    problems.push(`${profiles} profiles of ${chromes['browser']} Chromes`);
  const moreMib = (bytes - before.bytes) / MIB;
  if (moreMib > WORKER_KEEPS_MIB)
    problems.push(`the worker's process holds ${moreMib.toFixed(0)} MiB more`);
  return problems;
}
