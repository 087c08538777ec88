// Reads single values from the metrics of a process.
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

/** Number of requests of this route with this outcome. */
export const callsCounted = (process: Process, route: string, outcome: string) =>
  value(process, 'pressroom_http_requests_total', { route, outcome });

/** Number of events of this type in the OAuth server. */
export const eventsCounted = (process: Process, type: string) =>
  value(process, 'pressroom_oauth_events_total', { type });

/** Bytes that are reserved in the byte budget. */
export const heldBytes = (process: Process) => value(process, 'pressroom_in_flight_bytes');
