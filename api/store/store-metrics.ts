// The numbers of MongoDB: how long it takes for each operation of a render, and how the connections
// to it are used.
import type { MongoClient } from 'mongodb';
import type { Metrics } from '../../common/operations.ts';
import { isTimeout } from './failures.ts';

export type OperationName =
  | 'admit'
  | 'renew'
  | 'settle'
  | 'release'
  | 'read_key'
  | 'ping'
  | 'trial_count'
  | 'trial_take'
  | 'trial_renew'
  | 'trial_release';

/**
 * Takes the time of an operation until the driver knows its end, also when nobody waits for it any
 * more. Gives back the same promise.
 */
export type Timed = <T>(name: OperationName, operation: Promise<T>) => Promise<T>;

const BUCKETS_S = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

function countConnections(metrics: Metrics, client: MongoClient): void {
  let open = 0;
  let inUse = 0;
  let waiting = 0;
  client.on('connectionCreated', () => open++);
  client.on('connectionClosed', () => open--);
  client.on('connectionCheckedIn', () => inUse--);
  client.on('connectionCheckOutStarted', () => waiting++);
  client.on('connectionCheckOutFailed', () => waiting--);
  client.on('connectionCheckedOut', () => {
    waiting--;
    inUse++;
  });
  metrics.gauge(
    'pressroom_mongodb_connections',
    'Connections to MongoDB; those that are being opened count as idle.',
    ['state'],
    gauge => {
      gauge.set({ state: 'in_use' }, inUse);
      gauge.set({ state: 'idle' }, open - inUse);
    },
  );
  metrics.gauge(
    'pressroom_mongodb_waiting_operations',
    'Operations that wait for a free connection to MongoDB.',
    [],
    gauge => gauge.set(waiting),
  );
}

export function storeMetrics(metrics: Metrics, client: MongoClient): Timed {
  const durations = metrics.histogram(
    'pressroom_mongodb_operation_duration_seconds',
    'How long MongoDB took, a repetition included; a timeout is an operation without an answer in its time.',
    ['operation', 'outcome'],
    BUCKETS_S,
  );
  countConnections(metrics, client);
  return (name, operation) => {
    const startMs = performance.now();
    const ended = (outcome: 'ok' | 'timeout' | 'error') =>
      durations.observe({ operation: name, outcome }, (performance.now() - startMs) / 1_000);
    operation.then(
      () => ended('ok'),
      error => ended(isTimeout(error) ? 'timeout' : 'error'),
    );
    return operation;
  };
}
