// The gateway's counters, each with its closed list of reasons.
import type { Metrics } from '../../common/operations.ts';
import { EGRESS_DENIALS, SLOT_ENDS } from '../../common/protocol.ts';
import { GATEWAY_REJECTIONS } from './rejections.ts';

export function gatewayMetrics(metrics: Metrics, pool: string) {
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
export type GatewayMetrics = ReturnType<typeof gatewayMetrics>;
