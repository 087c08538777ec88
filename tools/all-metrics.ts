// Lists all metrics of the product by process: wires the real API, worker and controller in one
// registry without starting them.
import { KubeConfig } from '@kubernetes/client-node';
import { complete, createApi } from '../api/api.ts';
import { readApiConfig } from '../api/config.ts';
import { silentLog } from '../common/log.ts';
import {
  createMetrics,
  lifecycleMetrics,
  type MetricDescription,
  type Metrics,
} from '../common/operations.ts';
import { readControllerConfig } from '../controller/config.ts';
import { createController } from '../controller/controller.ts';
import { readWorkerConfig } from '../worker/config.ts';
import { createWorker } from '../worker/worker.ts';

export type Of = 'every process' | 'API' | 'worker' | 'controller';

const SECRETS = {
  PRESSROOM_PEPPER: 'a pepper of sixteen',
  PRESSROOM_POOL_SECRET: 'a secret of sixteen',
  MONGODB_URI: 'mongodb://localhost/',
  // Required for the metrics of the dashboard and of asynchronous renders.
  PRESSROOM_SECRET: 'a secret of sixteen',
  PRESSROOM_ASYNC: 'on',
};

const parts: Record<Of, (metrics: Metrics) => void> = {
  'every process': metrics => lifecycleMetrics(metrics, () => 'new'),
  API: metrics => void createApi(complete(readApiConfig(SECRETS)), silentLog, metrics),
  worker: metrics =>
    void createWorker(
      { ...readWorkerConfig(SECRETS), secret: SECRETS.PRESSROOM_POOL_SECRET },
      silentLog,
      metrics,
    ),
  controller: metrics => {
    const cluster = new KubeConfig();
    cluster.loadFromClusterAndUser(
      { name: 'none', server: 'https://localhost:1', skipTLSVerify: false },
      { name: 'none' },
    );
    createController(
      readControllerConfig({ PRESSROOM_PROMETHEUS_URL: 'http://localhost:1' }),
      cluster,
      silentLog,
      metrics,
    );
  },
};

/** Throws when two metrics have the same name. */
export function allMetrics(): (MetricDescription & { of: Of })[] {
  const metrics = createMetrics();
  const known = new Map<string, Of>();
  for (const [of, wire] of Object.entries(parts) as [Of, (metrics: Metrics) => void][]) {
    wire(metrics);
    for (const { name } of metrics.described()) if (!known.has(name)) known.set(name, of);
  }
  return metrics.described().map(each => ({ ...each, of: known.get(each.name)! }));
}
