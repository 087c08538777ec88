// A running service with all metrics: a real API and worker, a real controller if a cluster is
// available, and a real Prometheus with the chart's rules. Every event that creates a series has
// happened once.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { browserPoolCrd } from '../../crds/crd.ts';
import { WORDS } from '../../tools/boards/rules.ts';
import { withValues } from '../../tools/boards/rules-yaml.ts';
import { startDeployment } from '../fault/harness/deployment.ts';
import type { PressroomProcess } from '../fault/harness/pressroom-process.ts';
import { httpCall } from '../support/http-call.ts';
import { namespaceWithRights, startController } from './controller-fixture.ts';
import { type Cluster, startCluster, whyNoCluster } from './kube/cluster.ts';
import { type Prometheus, startPrometheus, type Target } from './prometheus.ts';
import type { PrometheusBinaries } from './prometheus-binaries.ts';

const RULES = fileURLToPath(
  new URL('../../charts/pressroom/rules/pressroom.yaml', import.meta.url),
);
const NAMESPACE = WORDS['RELEASE_NAMESPACE']!;
const POOL = WORDS['RELEASE_POOL']!;
const SCRAPE_S = 1;

export interface BoardsSite {
  prometheus: Prometheus;
  /** Why no controller is running, if so. */
  noController: string | undefined;
  stop(): Promise<void>;
}

const pool = (replicas?: number) => ({
  apiVersion: 'pressroom.dev/v1alpha1',
  kind: 'BrowserPool',
  metadata: { name: POOL, namespace: NAMESPACE },
  spec: {
    poolSecret: { name: 'secrets' },
    template: { image: 'pressroom-worker' },
    ...(replicas !== undefined && { replicas }),
  },
});

/** Starts all processes; `stop` stops them in reverse order. */
export async function startBoardsSite(
  binaries: PrometheusBinaries,
  folder: string,
): Promise<BoardsSite> {
  const ends: (() => Promise<unknown>)[] = [];
  const stop = async () => {
    for (const end of ends.splice(0).reverse()) await end();
  };
  try {
    return { ...(await build(binaries, folder, end => ends.push(end))), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function build(
  binaries: PrometheusBinaries,
  folder: string,
  atEnd: (end: () => Promise<unknown>) => void,
): Promise<Omit<BoardsSite, 'stop'>> {
  const env = { PRESSROOM_POOL: POOL };
  const deployment = await startDeployment({
    apis: 1,
    workers: 1,
    api: { ...env, PRESSROOM_TRIAL: 'on', PRESSROOM_ASYNC: 'on' },
    worker: env,
  });
  atEnd(deployment.stop);
  const rules = join(folder, 'rules.yaml');
  await writeFile(rules, withValues(await readFile(RULES, 'utf8')));
  const target = (pod: string, process: PressroomProcess): Target => ({
    address: `127.0.0.1:${process.operationsPort}`,
    labels: { namespace: NAMESPACE, pod, job: pod.replace(/-.*/, '') },
  });
  const targets = [
    target('api-1', deployment.apis[0]!.process),
    target('workers-1', deployment.workers[0]!.process),
  ];
  const prometheus = await startPrometheus({
    binaries,
    targets,
    intervalS: SCRAPE_S,
    ruleFiles: [rules],
  });
  atEnd(prometheus.stop);

  const noController = whyNoCluster({});
  const cluster = noController === undefined ? await startCluster() : undefined;
  if (cluster) {
    atEnd(cluster.stop);
    await cluster.apply([browserPoolCrd, ...namespaceWithRights(NAMESPACE), pool()]);
    const controller = await startController(cluster, NAMESPACE, {
      env: { PRESSROOM_PROMETHEUS_URL: prometheus.url },
    });
    atEnd(() => controller.kill('SIGTERM'));
    await prometheus.setTargets([...targets, target('controller-1', controller)]);
  }
  // A rate misses increases before the first scrape.
  await prometheus.until(
    'up == 1',
    samples => samples.length === targets.length + (cluster ? 1 : 0),
  );
  await makeEvents(deployment);
  if (cluster) await changeSize(cluster, prometheus);
  // The rates need two scrapes after the last event.
  await prometheus.until(`rate(pressroom_render_duration_seconds_count{phase="post"}[30s]) > 0`);
  return { prometheus, noController };
}

/** Renders with every outcome: succeeded, failed, rejected, trial, without a database. */
async function makeEvents(deployment: Awaited<ReturnType<typeof startDeployment>>): Promise<void> {
  const account = await deployment.account('scale');
  const must = async (call: Promise<{ status: number; body: Buffer }>, status: number) => {
    const response = await call;
    if (response.status !== status)
      throw new Error(`expected ${status}, got ${response.status} ${response.body}`);
  };
  for (let count = 0; count < 3; count++)
    await must(deployment.render(account, { html: `<p>${count}</p>` }), 200);
  await must(deployment.render(account, { url: deployment.probePages.bad('fails') }), 502);
  const small = await deployment.account('free');
  const held = deployment.render(small, deployment.probePages.page(small.id, 'held'));
  await deployment.probePages.until(small.id, 1);
  await must(deployment.render(small, { html: '<p>one too many</p>' }), 429);
  deployment.probePages.release(small.id);
  await must(held, 200);
  const trial = { 'content-type': 'application/json' };
  await httpCall(
    deployment.apis[0]!.port,
    'POST',
    '/v1/trial/render',
    trial,
    JSON.stringify({ html: '<p>trial</p>' }),
  );
  await deployment.cluster.fail(['findAndModify', 'update'], { errorCode: UNAUTHORIZED });
  await must(deployment.render(account, { html: '<p>no database</p>' }), 502);
  await deployment.cluster.working();
}

/** A MongoDB error that the driver does not retry. */
const UNAUTHORIZED = 13;

/** Causes one scaling decision, with a scrape before and after. */
async function changeSize(cluster: Cluster, prometheus: Prometheus): Promise<void> {
  const decisions = `sum(pressroom_scale_decisions_total{namespace="${NAMESPACE}",pool="${POOL}"})`;
  const [before] = await prometheus.until(decisions);
  await cluster.apply([pool(3)]);
  await prometheus.until(`${decisions} > ${before!.value}`);
}
