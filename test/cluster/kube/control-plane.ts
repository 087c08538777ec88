// The components of a cluster beside the API server: controller manager, scheduler, and kwok with
// its nodes.
import { join } from 'node:path';
import { eventually } from '../../support/eventually.ts';
import type { Json } from './api-request.ts';
import { simulatedNodes, startKwok } from './kwok.ts';
import { type LeashedProcess, startLeashed } from './leashed-process.ts';

/** Readiness time limit; it takes a second on an idle machine. */
const READY_MS = 180_000;
/** Higher client limits: 50 pods take seconds at the default of 20 requests per second. */
const HURRY = ['--kube-api-qps=500', '--kube-api-burst=1000'];
/** Without a server port and leader election, because there is one instance of each. */
const ALONE = ['--secure-port=0', '--leader-elect=false'];

/** The cluster as seen by these components. */
export interface ComponentContext {
  folder: string;
  kubeconfigOf(user: string): Promise<string>;
  get(path: string): Promise<Json | undefined>;
}

/** Resolves when the default service account exists, which pods require. */
export async function startControllerManager(
  program: string,
  { folder, kubeconfigOf, get }: ComponentContext,
  keys: { serviceAccountKeyFile: string; caFile: string },
  more: readonly string[],
): Promise<LeashedProcess> {
  const flags = [
    `--kubeconfig=${await kubeconfigOf('system:kube-controller-manager')}`,
    ...ALONE,
    ...HURRY,
    '--use-service-account-credentials=true',
    `--service-account-private-key-file=${keys.serviceAccountKeyFile}`,
    `--root-ca-file=${keys.caFile}`,
  ];
  const process = startLeashed(
    'kube-controller-manager',
    [program, ...flags, ...more],
    join(folder, 'kube-controller-manager.log'),
  );
  await untilSettled(process, async () => {
    if (!(await get('/api/v1/namespaces/default/serviceaccounts/default')))
      throw new Error('the default service account does not exist');
  });
  return process;
}

export async function startScheduler(
  program: string,
  { folder, kubeconfigOf }: ComponentContext,
): Promise<LeashedProcess> {
  const flags = [`--kubeconfig=${await kubeconfigOf('system:kube-scheduler')}`, ...ALONE, ...HURRY];
  return startLeashed('kube-scheduler', [program, ...flags], join(folder, 'kube-scheduler.log'));
}

/** Resolves when all `nodes` are schedulable. Requires the controller manager. */
export async function startSimulatedNodes(
  program: string,
  { folder, kubeconfigOf, get }: ComponentContext,
  apply: (objects: readonly object[]) => Promise<void>,
  nodes: number,
): Promise<LeashedProcess> {
  const process = await startKwok(program, folder, await kubeconfigOf('admin'));
  await apply(simulatedNodes(nodes));
  await untilSettled(process, async () => {
    const { items } = await get('/api/v1/nodes');
    const ready = (node: Json) =>
      node.status.conditions?.some((each: Json) => each.type === 'Ready' && each.status === 'True');
    const free = items.filter((node: Json) => ready(node) && !node.spec.taints);
    if (free.length < nodes) throw new Error(`${free.length} of ${nodes} nodes are ready`);
  });
  return process;
}

/** Kills the process if it does not become ready. */
async function untilSettled(process: LeashedProcess, look: () => Promise<void>): Promise<void> {
  try {
    await eventually(async () => {
      if (process.alive()) await look();
    }, READY_MS);
    if (!process.alive()) throw new Error('it exited');
  } catch (error) {
    await process.kill();
    throw new Error(
      `${process.name} did not become ready (${(error as Error).message}):\n${process.logTail()}`,
    );
  }
}
