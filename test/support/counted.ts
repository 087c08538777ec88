// Single numbers of a process's metrics.
import type { Metrics } from '../../common/operations.ts';
import { readSamples } from '../fault/harness/samples.ts';

interface Process {
  metrics: Pick<Metrics, 'text'>;
}

async function value(
  { metrics }: Process,
  name: string,
  labels?: Record<string, string>,
): Promise<number> {
  return readSamples(await metrics.text()).sum(name, labels);
}

/** How many calls of this route ended so. */
export const callsCounted = (process: Process, route: string, outcome: string) =>
  value(process, 'pressroom_http_requests_total', { route, outcome });

/** How often this happened in the OAuth server. */
export const eventsCounted = (process: Process, type: string) =>
  value(process, 'pressroom_oauth_events_total', { type });

/** How much of the memory for renders is held. */
export const heldBytes = (process: Process) => value(process, 'pressroom_in_flight_bytes');
