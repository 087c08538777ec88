// The gateway's counters, each with its closed list of reasons.
import type { Metrics } from '../../common/operations.ts';
import { GATEWAY_REJECTIONS, type GatewayRejection } from './rejections.ts';

const SLOT_ENDS = [
  'chrome_died',
  'worker_stopping',
  'renderer_crashed',
  'memory',
  'deadline',
  'flooded',
  'refused',
  'not_static',
] as const;
const EGRESS_DENIALS = [
  'address',
  'port',
  'name',
  'unresolved',
  'requests',
  'connections',
  'bytes',
  'closed',
] as const;

export interface GatewayMetrics {
  countRejection(reason: GatewayRejection): void;
  countSlotEnd(reason: (typeof SLOT_ENDS)[number]): void;
  countEgressDenial(reason: (typeof EGRESS_DENIALS)[number]): void;
}

export function gatewayMetrics(metrics: Metrics, pool: string): GatewayMetrics {
  return {
    countRejection: metrics.counterBy(
      'pressroom_gateway_refused_total',
      'Connections that the gateway rejected, by reason.',
      'reason',
      GATEWAY_REJECTIONS,
    ),
    countSlotEnd: metrics.counterBy(
      'pressroom_slot_ends_total',
      'Slots that the worker ended before the API released them, by reason.',
      'reason',
      SLOT_ENDS,
      { pool },
    ),
    countEgressDenial: metrics.counterBy(
      'pressroom_egress_denied_total',
      'Connections of pages that the egress guard blocked, by reason.',
      'reason',
      EGRESS_DENIALS,
    ),
  };
}
