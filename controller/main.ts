// Entry point of the controller process.
import { parseArgs } from 'node:util';
import { ConfigError, processVariables, readConfig } from '../common/config.ts';
import { createLifecycle, runUntilSignal } from '../common/lifecycle.ts';
import { createLog } from '../common/log.ts';
import { createMetrics, lifecycleMetrics, operationsServer } from '../common/operations.ts';
import { readControllerConfig } from './config.ts';
import { createController } from './controller.ts';
import { loadKubeConfig } from './kubernetes/kube-config.ts';

try {
  const { values } = parseArgs({ options: { namespace: { type: 'string', multiple: true } } });
  const e = readConfig(processVariables, process.env);
  const { kubeConfig, namespace } = loadKubeConfig();
  const config = readControllerConfig(process.env, values.namespace, namespace);
  const log = createLog(e.PRESSROOM_LOG_LEVEL, 'controller');
  const metrics = createMetrics();
  const controller = createController(config, kubeConfig, log, metrics);
  const lifecycle = createLifecycle(log, e.PRESSROOM_DRAIN_TIMEOUT, [
    operationsServer(
      { host: e.PRESSROOM_OPERATIONS_HOST, port: e.PRESSROOM_OPERATIONS_PORT },
      metrics,
      () => lifecycle.state() === 'running' && controller.ready(),
    ),
    ...controller.services,
  ]);
  lifecycleMetrics(metrics, lifecycle.state);
  await runUntilSignal(log, lifecycle);
} catch (error) {
  if (
    !(error instanceof ConfigError) &&
    !(error as { code?: string }).code?.startsWith('ERR_PARSE_ARGS')
  )
    throw error;
  console.error((error as Error).message);
  process.exit(2);
}
