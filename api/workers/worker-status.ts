// What a worker says of itself, read and judged. Pure.
import { z } from 'zod';
import { PROTOCOL, type WorkerStatus } from '../../common/protocol.ts';

const count = z.int().min(0);

// Not strict: the release after this one may say more.
const shape = z.object({
  protocol: z.int(),
  pool: z.string(),
  capacity: count,
  ready: count,
  offered: count.optional(),
  busy: count,
  draining: z.boolean(),
  chrome: z.enum(['starting', 'up', 'down']),
  chromeVersion: z.string(),
});

/** The status in a message of `/v1/status`, or undefined when it is none. */
export function readStatus(message: unknown): WorkerStatus | undefined {
  if (typeof message !== 'string') return undefined;
  try {
    return shape.safeParse(JSON.parse(message)).data;
  } catch {
    return undefined;
  }
}

/** Why this API must not use the worker, for the log; undefined when it may. */
export function unusableBecause(status: WorkerStatus, pool: string): string | undefined {
  if (status.pool !== pool) return `it serves the pool ${status.pool}`;
  if (status.protocol !== PROTOCOL && status.protocol !== PROTOCOL - 1)
    return `it speaks protocol ${status.protocol}; accepted are ${PROTOCOL - 1} and ${PROTOCOL}`;
  return undefined;
}
