// Entry point of the worker process.
import { ConfigError, processVariables, readConfig } from '../common/config.ts';
import { createLifecycle, runUntilSignal } from '../common/lifecycle.ts';
import { createLog } from '../common/log.ts';
import { createMetrics, lifecycleMetrics, operationsServer } from '../common/operations.ts';
import { readWorkerConfig } from './config.ts';
import { createWorker } from './worker.ts';

try {
  const e = readConfig(processVariables, process.env);
  const config = readWorkerConfig(process.env);
  if (config.secret === undefined)
    throw new ConfigError(
      'PRESSROOM_POOL_SECRET is not set. Set the same value for the API and its workers.',
    );
  const log = createLog(e.PRESSROOM_LOG_LEVEL, 'worker');
  const metrics = createMetrics({ labels: { pool: config.pool } });
  const worker = createWorker({ ...config, secret: config.secret }, log, metrics);
  const lifecycle = createLifecycle(log, e.PRESSROOM_DRAIN_TIMEOUT, [
    operationsServer(
      { host: e.PRESSROOM_OPERATIONS_HOST, port: e.PRESSROOM_OPERATIONS_PORT },
      metrics,
      () => lifecycle.state() === 'running' && worker.status().chrome === 'up',
    ),
    ...worker.services,
  ]);
  lifecycleMetrics(metrics, lifecycle.state);
  await runUntilSignal(log, lifecycle);
} catch (error) {
  if (!(error instanceof ConfigError)) throw error;
  console.error(error.message);
  process.exit(2);
}
