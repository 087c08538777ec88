// What acts on a cluster beside its API server: the controller manager, the scheduler, and kwok
// with its nodes.
import { join } from 'node:path';
import { eventually } from '../../support/eventually.ts';
import type { Json } from './api-request.ts';
import { playedNodes, startKwok } from './kwok.ts';
import { type LeashedProcess, startLeashed } from './leashed-process.ts';

/** What is there a second after the start on an idle machine. */
const READY_MS = 180_000;
/**
 * A test is no reason to spare the API server: 50 pods at once take seconds at the usual 20
 * questions a second.
 */
const HURRY = ['--kube-api-qps=500', '--kube-api-burst=1000'];
/** They serve nothing, and there is one of each. */
const ALONE = ['--secure-port=0', '--leader-elect=false'];

/** What they need of the cluster. */
export interface Surroundings {
  folder: string;
  kubeconfigOf(user: string): Promise<string>;
  get(path: string): Promise<Json | undefined>;
}

/** Resolves when there is a default service account, without which no pod can be made. */
export async function startControllerManager(
  program: string,
  { folder, kubeconfigOf, get }: Surroundings,
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
      throw new Error('there is no default service account');
  });
  return process;
}

export async function startScheduler(
  program: string,
  { folder, kubeconfigOf }: Surroundings,
): Promise<LeashedProcess> {
  const flags = [`--kubeconfig=${await kubeconfigOf('system:kube-scheduler')}`, ...ALONE, ...HURRY];
  return startLeashed('kube-scheduler', [program, ...flags], join(folder, 'kube-scheduler.log'));
}

/** Resolves when pods can be put onto all `nodes`. Needs the controller manager. */
export async function startPlayedNodes(
  program: string,
  { folder, kubeconfigOf, get }: Surroundings,
  apply: (objects: readonly object[]) => Promise<void>,
  nodes: number,
): Promise<LeashedProcess> {
  const process = await startKwok(program, folder, await kubeconfigOf('admin'));
  await apply(playedNodes(nodes));
  await untilSettled(process, async () => {
    const { items } = await get('/api/v1/nodes');
    const ready = (node: Json) =>
      node.status.conditions?.some((each: Json) => each.type === 'Ready' && each.status === 'True');
    const free = items.filter((node: Json) => ready(node) && !node.spec.taints);
    if (free.length < nodes) throw new Error(`${free.length} of ${nodes} nodes are ready`);
  });
  return process;
}

/** Ends the process when it does not come to that. */
async function untilSettled(process: LeashedProcess, look: () => Promise<void>): Promise<void> {
  try {
    await eventually(async () => {
      if (process.alive()) await look();
    }, READY_MS);
    if (!process.alive()) throw new Error('it ended');
  } catch (error) {
    await process.kill();
    throw new Error(
      `${process.name} does not do its work (${(error as Error).message}):\n${process.lastWords()}`,
    );
  }
}
