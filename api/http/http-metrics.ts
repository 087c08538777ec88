// The numbers of the HTTP side: how every request ended, those that no route saw too, and what this
// process holds for its callers.

import type { ErrorCode, RenderFailedReason } from '../../common/contract/errors.ts';
import type { Metrics } from '../../common/operations.ts';

/** `unavailable` is the answer of /readyz, which is no error of the caller's request. */
export type RequestOutcome =
  | 'ok'
  | 'unavailable'
  | 'client_closed'
  | ErrorCode
  | RenderFailedReason;

/**
 * Counts one request; a path that is none of `paths` counts as `other`, since anybody can make up
 * any number of them.
 */
export type CountRequest = (path: string, outcome: RequestOutcome) => void;

export function requestCounter(metrics: Metrics, paths: ReadonlySet<string>): CountRequest {
  const requests = metrics.counter(
    'pressroom_http_requests_total',
    "HTTP requests by how they ended: ok, the error's code, for render_failed its reason.",
    ['route', 'outcome'],
  );
  return (path, outcome) => requests.inc({ route: paths.has(path) ? path : 'other', outcome });
}

interface Sources {
  connections(): number;
  bytesInFlight(): number;
  maxBytesInFlight: number;
}

/** Gives what counts a request that was answered before it became one. */
export function serverMetrics(
  metrics: Metrics,
  { connections, bytesInFlight, maxBytesInFlight }: Sources,
): () => void {
  const broken = metrics.counter(
    'pressroom_http_broken_requests_total',
    'Requests that were no valid HTTP, answered before any route.',
  );
  metrics.gauge('pressroom_http_connections', 'Open connections of callers.', [], gauge =>
    gauge.set(connections()),
  );
  metrics.gauge(
    'pressroom_in_flight_bytes',
    'Memory held for bodies and PDFs, as it counts against the limit.',
    [],
    gauge => gauge.set(bytesInFlight()),
  );
  metrics
    .gauge(
      'pressroom_in_flight_limit_bytes',
      'Memory for bodies and PDFs beyond which calls are refused as overloaded.',
    )
    .set(maxBytesInFlight);
  return () => broken.inc();
}
