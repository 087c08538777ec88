// Reasons why the gateway rejects a connection, or a slot on an open one: the closed list of the
// metric, and which reasons are ordinary.
const TICKET_REJECTIONS = ['malformed', 'signature', 'expired', 'pool', 'purpose', 'used'] as const;
export const GATEWAY_REJECTIONS = [
  'path',
  'tls',
  'http',
  'silent',
  'crowded',
  'full',
  'draining',
  ...TICKET_REJECTIONS,
] as const;
/** `crowded`: too many connections. `silent`: no complete request in time. */
export type GatewayRejection = (typeof GATEWAY_REJECTIONS)[number];

/** True for reasons that do not indicate a faulty or hostile client. */
export const isOrdinary = (reason: GatewayRejection): boolean =>
  reason === 'full' || reason === 'draining';
