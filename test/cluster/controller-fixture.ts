// Shared set-up of the controller tests: a real cluster with the CRD, real controller processes,
// and functions that read their results.

import type { BrowserPool } from '../../crds/browser-pool.ts';
import { browserPoolCrd } from '../../crds/crd.ts';
import { ownPort } from '../fault/harness/ports.ts';
import { type PressroomProcess, startPressroom } from '../fault/harness/pressroom-process.ts';
import { skip } from '../support/skip.ts';
import { BUILD_LIMIT_MS } from './kube/binaries.ts';
import { type Cluster, type ClusterOptions, startCluster, whyNoCluster } from './kube/cluster.ts';

/** Time limit for an effect in the cluster, which is slow on a busy machine. */
export const SLOW_MS = 90_000;

/** The permissions of a controller, as in the chart. */
const RULES = [
  { apiGroups: ['pressroom.dev'], resources: ['browserpools'], verbs: ['list', 'watch'] },
  { apiGroups: ['pressroom.dev'], resources: ['browserpools/status'], verbs: ['patch'] },
  { apiGroups: ['pressroom.dev'], resources: ['browserpools/finalizers'], verbs: ['update'] },
  {
    apiGroups: ['apps'],
    resources: ['deployments'],
    verbs: ['get', 'list', 'watch', 'create', 'patch'],
  },
  { apiGroups: [''], resources: ['services'], verbs: ['get', 'list', 'watch', 'create', 'patch'] },
  {
    apiGroups: ['policy'],
    resources: ['poddisruptionbudgets'],
    verbs: ['get', 'list', 'watch', 'create', 'patch'],
  },
  { apiGroups: [''], resources: ['pods'], verbs: ['list', 'watch', 'patch'] },
  { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create'] },
  { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['get', 'create', 'update'] },
];

/** A namespace with the service account `controller`, which has permissions only there. */
export const namespaceWithRights = (name: string): object[] => [
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name } },
  { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'controller', namespace: name } },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'Role',
    metadata: { name: 'controller', namespace: name },
    rules: RULES,
  },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    metadata: { name: 'controller', namespace: name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'controller' },
    subjects: [{ kind: 'ServiceAccount', name: 'controller', namespace: name }],
  },
];

/** Starts a cluster with the CRD, or skips the suite. Call it in `before`. */
export async function clusterFor(
  context: Mocha.Context,
  options: ClusterOptions,
): Promise<Cluster> {
  context.timeout(BUILD_LIMIT_MS);
  const why = whyNoCluster(options);
  if (why !== undefined) skip(context, why);
  const cluster = await startCluster(options);
  await cluster.apply([browserPoolCrd]).catch(async error => {
    await cluster.stop();
    throw error;
  });
  return cluster;
}

interface ControllerOptions {
  name?: string;
  env?: Record<string, string>;
  /** URL of a proxy to the API server. */
  server?: string;
}

/** Starts a controller of one namespace with the permissions of its service account. */
export async function startController(
  cluster: Cluster,
  namespace: string,
  options: ControllerOptions = {},
): Promise<PressroomProcess> {
  const { name = 'controller', env = {}, server } = options;
  return startPressroom('controller', name, await ownPort(), {
    KUBECONFIG: await cluster.userKubeconfig(namespace, 'controller', server),
    PRESSROOM_NAMESPACES: namespace,
    PRESSROOM_LEASE_NAMESPACE: namespace,
    PRESSROOM_POD_NAME: name,
    PRESSROOM_PROMETHEUS_INTERVAL: '1s',
    ...env,
  });
}

const POOLS = (namespace: string) =>
  `/apis/pressroom.dev/v1alpha1/namespaces/${namespace}/browserpools`;

export const getPool = async (
  cluster: Cluster,
  namespace: string,
  name: string,
): Promise<BrowserPool> => (await cluster.get(`${POOLS(namespace)}/${name}`)) as BrowserPool;

/** The status and reason of each condition, such as `True AllReady`. */
export async function conditions(
  cluster: Cluster,
  namespace: string,
  name: string,
): Promise<Record<string, string>> {
  const pool = await getPool(cluster, namespace, name);
  return Object.fromEntries(
    (pool?.status?.conditions ?? []).map(({ type, status, reason }) => [
      type,
      `${status} ${reason}`,
    ]),
  );
}

/** API paths of the three owned objects of a pool. */
export const childPaths = (
  namespace: string,
  pool: string,
): Record<'deployment' | 'service' | 'budget', string> => ({
  deployment: `/apis/apps/v1/namespaces/${namespace}/deployments/${pool}-workers`,
  service: `/api/v1/namespaces/${namespace}/services/${pool}-workers`,
  budget: `/apis/policy/v1/namespaces/${namespace}/poddisruptionbudgets/${pool}-workers`,
});
