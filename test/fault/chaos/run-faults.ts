// Runs random faults for some time, two at once, never two on the same part.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Deployment } from '../harness/deployment.ts';
import { type Chance, createChance } from '../harness/random.ts';
import { type Fault, faultsOf, type Harm } from './faults.ts';

const LANES = 2;

export interface FaultRun {
  deployment: Deployment;
  chance: Chance;
  forMs: number;
  harm: Harm;
  /** Gets a line for each fault. */
  log(line: string): void;
  /** Default: all faults. */
  includes?(fault: Fault): boolean;
}

/** Resolves with how often each fault occurred, when all parts work again. */
export async function runFaults({
  deployment,
  chance,
  forMs,
  harm,
  log,
  includes = () => true,
}: FaultRun): Promise<Record<string, number>> {
  const count: Record<string, number> = {};
  const busy = new Set<string>();
  const startMs = performance.now();
  const over = () => performance.now() - startMs > forMs;

  async function lane(own = createChance(chance.int(0, 2 ** 30))): Promise<void> {
    const faults = faultsOf(deployment, own, harm).filter(includes);
    while (!over()) {
      await sleep(own.int(200, 2_500));
      const fault = own.pick(
        faults.filter(({ targets }) => !targets.some(target => busy.has(target))),
      );
      for (const target of fault.targets) busy.add(target);
      const at = `${((performance.now() - startMs) / 1000).toFixed(1)} s`;
      await fault
        .run()
        .catch((error: Error) => harm.violations.push(`${fault.name} at ${at}: ${error.message}`));
      log(`${at} to ${((performance.now() - startMs) / 1000).toFixed(1)} s: ${fault.name}`);
      count[fault.name] = (count[fault.name] ?? 0) + 1;
      for (const target of fault.targets) busy.delete(target);
    }
  }
  await Promise.all(Array.from({ length: LANES }, () => lane()));
  return count;
}
