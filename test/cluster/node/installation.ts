// An installation of the chart in a real cluster: its values, and what a test asks of its pool, its
// pods and its logs.

import { CHART, type Helm, type Values, withValues } from '../chart/helm.ts';
import type { Json } from '../kube/api-request.ts';
import { PATCH } from '../kube/api-request.ts';
import { patiently } from './patiently.ts';
import type { RealCluster } from './real-cluster.ts';

export const RELEASE = 'press';
/** The pool has the name of the release. */
export const POOL = RELEASE;
const NAMESPACE = 'pdf';
const DATABASE_SECRET = 'database';
/** Helm waits for what it has made; a pod starts slowly where ten others do. */
const HELM_LIMIT = '10m';
const READY_MS = 600_000;

/**
 * The node has no more than the cores of a small machine: requests are less than the chart's.
 * Windows are short so that tests are.
 */
const valuesOf = (tag: string, prometheusUrl: string): Values => ({
  image: { tag, pullPolicy: 'Never' },
  mongodb: { existingSecret: DATABASE_SECRET },
  prometheus: { url: prometheusUrl },
  scrapeAnnotations: true,
  seccompInstaller: { enabled: true },
  api: {
    service: { type: 'NodePort' },
    resources: { requests: { cpu: '250m', memory: '64Mi' } },
    config: { PRESSROOM_QUEUE_TIMEOUT: '240s' },
  },
  controller: {
    resources: { requests: { cpu: '10m', memory: '64Mi' } },
    config: { PRESSROOM_PROMETHEUS_INTERVAL: '1s' },
  },
  pool: {
    resources: { requests: { cpu: '10m', memory: '64Mi' } },
    scaling: {
      stableWindowSeconds: 15,
      scaleDown: { delaySeconds: 20, maxPodsPerMinute: 60, maxPercentPerMinute: 100 },
    },
  },
});

export interface Installation {
  readonly namespace: string;
  /** Runs helm in the namespace of the release. */
  helm(...args: string[]): Promise<string>;
  install(tag: string): Promise<void>;
  /** `more` counts instead of the values of the installation. */
  upgrade(tag: string, more?: Values): Promise<void>;
  /** Of the API's Service. */
  nodePort(): Promise<number>;
  /** Keys of so many accounts of the largest plan, made by the command in the API's pod. */
  makeKeys(accounts: number): Promise<string[]>;
  pool(name?: string): Promise<Json>;
  /** Merged into `spec`. */
  patchPool(spec: object): Promise<void>;
  condition(type: string, pool?: string): Promise<Json | undefined>;
  untilPool(condition: string): Promise<void>;
  /** The pods of a pool that are there, those that end among them. */
  workers(pool?: string): Promise<Json[]>;
  untilReadyWorkers(fits: (count: number) => boolean): Promise<void>;
  /**
   * Resolves when all pods of the release, the workers among them, run images with this tag and no
   * others do.
   */
  untilImages(tag: string): Promise<void>;
  /** The pod of the controller that leads. */
  leader(): Promise<string>;
  /** What the pods of a part have written. */
  logs(component: string): Promise<string>;
  /** The Secret that the chart has made. */
  secret(): Promise<Json>;
  /**
   * `resource/name` of all that is in the namespace, without what Kubernetes itself and the test
   * have put there.
   */
  leftovers(): Promise<string[]>;
}

const isReady = ({ metadata, status }: Json) =>
  !metadata.deletionTimestamp &&
  status.conditions?.some((each: Json) => each.type === 'Ready' && each.status === 'True');

/** Makes the namespace and the Secret with the address of MongoDB; installs nothing yet. */
export async function createInstallation(
  { cluster }: RealCluster,
  run: Helm,
  { mongodbUri, prometheusUrl }: { mongodbUri: string; prometheusUrl: string },
): Promise<Installation> {
  const enforce = { 'pod-security.kubernetes.io/enforce': 'restricted' };
  await cluster.apply([
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE, labels: enforce } },
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: DATABASE_SECRET, namespace: NAMESPACE },
      stringData: { 'mongodb-uri': mongodbUri },
    },
  ]);
  const helm = (...args: string[]) =>
    run([...args, '--namespace', NAMESPACE], {
      PATH: process.env.PATH,
      HOME: cluster.folder,
      KUBECONFIG: cluster.kubeconfig,
    });
  const put =
    (command: string) =>
    async (tag: string, more: Values = {}) => {
      const wait = ['--wait', '--timeout', HELM_LIMIT];
      await withValues({ ...valuesOf(tag, prometheusUrl), ...more }, file =>
        helm(command, RELEASE, CHART, '--values', file, ...wait),
      );
    };
  const kubectl = (...args: string[]) => cluster.kubectl(`--namespace=${NAMESPACE}`, ...args);
  const pathOf = (pool: string) =>
    `/apis/pressroom.dev/v1alpha1/namespaces/${NAMESPACE}/browserpools/${pool}`;
  const pool = (name = POOL) => cluster.get(pathOf(name));
  const podsWith = async (selector: string): Promise<Json[]> =>
    (
      await cluster.get(
        `/api/v1/namespaces/${NAMESPACE}/pods?labelSelector=${encodeURIComponent(selector)}`,
      )
    ).items;
  const condition = async (type: string, name = POOL) =>
    (await pool(name))?.status?.conditions?.find((each: Json) => each.type === type);
  const workers = (name = POOL) => podsWith(`pressroom.dev/pool=${name}`);
  const secretPath = `/api/v1/namespaces/${NAMESPACE}/secrets/${RELEASE}-secrets`;
  const inApi = (...command: string[]) =>
    kubectl('exec', `deployment/${RELEASE}-api`, '--', 'pressroom', ...command);

  return {
    namespace: NAMESPACE,
    helm,
    install: put('install'),
    upgrade: put('upgrade'),
    nodePort: async () =>
      (await cluster.get(`/api/v1/namespaces/${NAMESPACE}/services/${RELEASE}-api`)).spec.ports[0]
        .nodePort,
    makeKeys: async accounts => {
      const keys: string[] = [];
      for (let number = 0; number < accounts; number++) {
        const name = `account-${number}`;
        await inApi('accounts', 'create', name, '--plan', 'scale');
        keys.push((await inApi('keys', 'create', '--account', name)).trim());
      }
      return keys;
    },
    pool,
    patchPool: async spec => {
      const { status, body } = await cluster.request('PATCH', pathOf(POOL), { spec }, PATCH.merge);
      if (status !== 200) throw new Error(`the pool is not changed: ${JSON.stringify(body)}`);
    },
    condition,
    untilPool: type =>
      patiently(async () => {
        const [{ metadata, status }, found] = [await pool(), await condition(type)];
        if (found?.status !== 'True' || status.observedGeneration !== metadata.generation)
          throw new Error(`the pool is not ${type}: ${JSON.stringify(found)}`);
      }, READY_MS),
    workers,
    untilReadyWorkers: fits =>
      patiently(async () => {
        const [all, { status }] = [await workers(), await pool()];
        const ready = all.filter(isReady).length;
        if (!fits(ready))
          throw new Error(
            `${ready} of ${all.length} workers are ready; the status of the pool: ${JSON.stringify(status)}`,
          );
      }, READY_MS),
    untilImages: tag =>
      patiently(async () => {
        const pods = await podsWith('app.kubernetes.io/name=pressroom');
        const others = pods.filter(({ spec }) =>
          spec.containers.some(({ image }: Json) => !image.endsWith(`:${tag}`)),
        );
        // A test pod and the Jobs of the chart stay when they are done.
        const running = others.filter(({ status }) => status.phase !== 'Succeeded');
        if (running.length > 0)
          throw new Error(
            `not yet of tag ${tag}: ${running.map(({ metadata }) => metadata.name).join(', ')}`,
          );
        if (!(await workers()).some(isReady)) throw new Error(`no worker of tag ${tag} is ready`);
      }, READY_MS),
    leader: async () => {
      const lease = await cluster.get(
        `/apis/coordination.k8s.io/v1/namespaces/${NAMESPACE}/leases/${RELEASE}-controller`,
      );
      return lease.spec.holderIdentity.split('_')[0];
    },
    logs: component =>
      kubectl('logs', `--selector=app.kubernetes.io/component=${component}`, '--tail=-1'),
    secret: async () => {
      const { data, metadata } = await cluster.get(secretPath);
      return { data, uid: metadata.uid };
    },
    leftovers: async () => {
      const kinds = (
        await kubectl('api-resources', '--verbs=list', '--namespaced', '--output=name')
      )
        .trim()
        .split('\n');
      const found = await kubectl(
        'get',
        kinds.filter(kind => !kind.startsWith('events')).join(','),
        '--output=name',
        '--ignore-not-found',
      );
      const given = [
        'configmap/kube-root-ca.crt',
        'serviceaccount/default',
        `secret/${DATABASE_SECRET}`,
      ];
      return found.split('\n').filter(name => name !== '' && !given.includes(name));
    },
  };
}
