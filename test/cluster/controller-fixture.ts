// What the tests of the controller share: a real cluster with the CRD in it, real controller
// processes, and ways to look at what they did.

import type { BrowserPool } from '../../crds/browser-pool.ts';
import { browserPoolCrd } from '../../crds/crd.ts';
import { ownPort } from '../fault/harness/ports.ts';
import { type PressroomProcess, startPressroom } from '../fault/harness/pressroom-process.ts';
import { skip } from '../support/skip.ts';
import { BUILD_LIMIT_MS } from './kube/binaries.ts';
import { type Cluster, type ClusterOptions, startCluster, whyNoCluster } from './kube/cluster.ts';

/** Of waiting for a cluster to do something: on a busy machine everything in it is slow. */
export const SLOW_MS = 90_000;

/** What a controller may do, as in the chart. */
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

/**
 * The namespace `name` with a service account `controller` that has a controller's rights there and
 * nowhere else.
 */
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

/** Before all tests of a suite: a cluster with the CRD, or a skip that says why there is none. */
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
  /** Another way to the API server than the straight one. */
  server?: string;
}

/** A controller of one namespace, with the rights of its service account. */
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

/** `True Reason` for each condition. */
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

/** Paths of the three objects of a pool. */
export const childPaths = (
  namespace: string,
  pool: string,
): Record<'deployment' | 'service' | 'budget', string> => ({
  deployment: `/apis/apps/v1/namespaces/${namespace}/deployments/${pool}-workers`,
  service: `/api/v1/namespaces/${namespace}/services/${pool}-workers`,
  budget: `/apis/policy/v1/namespaces/${namespace}/poddisruptionbudgets/${pool}-workers`,
});
