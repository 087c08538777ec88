// One chaos run: callers on all plans, and random faults, two at a time. Then everything is
// repaired and judged.
import { setTimeout as sleep } from 'node:timers/promises';
import { startDeployment } from '../harness/deployment.ts';
import { openLedger } from '../harness/ledger.ts';
import { createChance } from '../harness/random.ts';
import { startCallers } from './callers.ts';
import type { Harm } from './faults.ts';
import { judge } from './judge.ts';
import { runFaults } from './run-faults.ts';

export interface ChaosReport {
  seed: number;
  members: number;
  /** How often each fault occurred. */
  faults: Record<string, number>;
  /** How often callers got each answer. */
  ends: Record<string, number>;
  /** Renders in a warm page. */
  warm: number;
  /** Empty when every promise held. */
  violations: string[];
}

/** After the last fault all calls have this time to end. */
const PATIENCE_MS = 150_000;

/**
 * `log` gets a line for each fault. The seed decides the faults; the timing, and so the result,
 * depends on the machine.
 */
export async function runChaos(
  seed: number,
  forMs: number,
  log: (line: string) => void,
): Promise<ChaosReport> {
  const chance = createChance(seed);
  const members = chance.percent(33) ? 3 : 1;
  const deployment = await startDeployment({
    slots: 3,
    members,
    links: true,
    api: {
      PRESSROOM_RENDER_TIMEOUT: '20s',
      PRESSROOM_QUEUE_TIMEOUT: '20s',
      PRESSROOM_QUEUE_TIMEOUT_NO_WORKER: '20s',
      PRESSROOM_DRAIN_DELAY: '200ms',
    },
    worker: { PRESSROOM_CHROME_PROBE_INTERVAL: '2s', PRESSROOM_CHROME_RECYCLE_RENDERS: '60' },
  });
  try {
    const ledger = await openLedger(deployment.cluster);
    const callers = await startCallers(deployment, createChance(chance.int(0, 2 ** 30)));
    const harm: Harm = { killed: new Set(), violations: [] };
    const faults = await runFaults({ deployment, chance, forMs, harm, log });

    const ended = await Promise.race([
      callers.stop().then(() => true),
      sleep(PATIENCE_MS, false, { ref: false }),
    ]);
    if (!ended)
      harm.violations.push(
        `calls hang: ${callers.waiting().map(ms => `${Math.round(ms / 1000)} s`)}`,
      );
    const violations = await judge(deployment, callers, ledger, harm);
    await ledger.close();
    const ends: Record<string, number> = {};
    for (const { end, why } of callers.visits)
      ends[`${end} ${why}`.trim()] = (ends[`${end} ${why}`.trim()] ?? 0) + 1;
    return { seed, members, faults, ends, warm: callers.warm(), violations };
  } finally {
    await deployment.stop();
  }
}
