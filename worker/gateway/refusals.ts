// Reasons why the gateway rejects a connection, or a slot on an open one: the closed list of the
// metric, and which reasons are ordinary.
const TICKET_REFUSALS = ['malformed', 'signature', 'expired', 'pool', 'purpose', 'used'] as const;
export const REFUSALS = [
  'path',
  'tls',
  'http',
  'silent',
  'crowded',
  'full',
  'draining',
  ...TICKET_REFUSALS,
] as const;
/** `crowded`: too many connections. `silent`: no complete request in time. */
export type GatewayRefusal = (typeof REFUSALS)[number];

/** True for reasons that do not indicate a faulty or hostile client. */
export const isOrdinary = (reason: GatewayRefusal): boolean =>
  reason === 'full' || reason === 'draining';
