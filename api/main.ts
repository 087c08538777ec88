// Process 1: the API by itself.
import { ConfigError, processVariables, readConfig } from '../common/config.ts';
import { createLifecycle, runUntilSignal } from '../common/lifecycle.ts';
import { createLog } from '../common/log.ts';
import { createMetrics, lifecycleMetrics, operationsServer } from '../common/operations.ts';
import { complete, createApi } from './api.ts';
import { readApiConfig } from './config.ts';

try {
  const e = readConfig(processVariables, process.env);
  const config = complete(readApiConfig(process.env));
  const log = createLog(e.PRESSROOM_LOG_LEVEL, 'api');
  const metrics = createMetrics({ labels: { pool: config.pool } });
  const api = createApi(config, log, metrics);
  const lifecycle = createLifecycle(log, e.PRESSROOM_DRAIN_TIMEOUT, [
    operationsServer(
      { host: e.PRESSROOM_OPERATIONS_HOST, port: e.PRESSROOM_OPERATIONS_PORT },
      metrics,
      () => lifecycle.state() === 'running',
    ),
    ...api.services,
  ]);
  lifecycleMetrics(metrics, lifecycle.state);
  await runUntilSignal(log, lifecycle);
} catch (error) {
  if (!(error instanceof ConfigError)) throw error;
  console.error(error.message);
  process.exit(2);
}
