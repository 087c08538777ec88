// Why the gateway refuses a connection, or a slot on one that it has: the closed list of the metric, and which of it belongs to a worker's ordinary life.
const TICKET_REFUSALS = ['malformed', 'signature', 'expired', 'pool', 'purpose', 'used'] as const;
export const REFUSALS = ['path', 'tls', 'http', 'silent', 'crowded', 'full', 'draining', ...TICKET_REFUSALS] as const;
export type Refusal = (typeof REFUSALS)[number];

/** True for what is no sign of somebody who should not be here. */
export const isOrdinary = (reason: Refusal): boolean => reason === 'full' || reason === 'draining';
