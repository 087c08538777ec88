// A real Kubernetes control plane for a test: etcd, kube-apiserver and optional components, in a
// temporary folder and on free loopback ports. It always ends with the test process.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findOnPath } from '../../../standalone/cache.ts';
import { type ApiAnswer, apiRequest, type Json } from './api-request.ts';
import { type ApiServer, type ApiServerOptions, createApiServer } from './api-server.ts';
import { type AuditedRequest, readAudit } from './audit.ts';
import type { Authority } from './authority.ts';
import { kubeBinaries, whyNoBinaries } from './binaries.ts';
import { startControllerManager, startScheduler, startSimulatedNodes } from './control-plane.ts';
import { type Etcd, startEtcd } from './etcd.ts';
import { type Access, writeKubeconfig } from './kubeconfig.ts';
import { applyObjects, type Kubectl, kubectlWith } from './kubectl.ts';
import { setPodReady } from './kwok.ts';
import type { LeashedProcess } from './leashed-process.ts';
import type { Binary } from './versions.ts';

export interface ClusterOptions {
  /** Runs the controller manager. `args` are additional arguments. */
  controllerManager?: boolean | { args: readonly string[] };
  /** Runs the scheduler. */
  scheduler?: boolean;
  /** Simulates nodes and their pods. Includes the controller manager and the scheduler. */
  kwok?: { nodes: number };
  apiServer?: ApiServerOptions;
}

export interface Cluster {
  /** The folder with logs, keys and kubeconfigs. `stop` removes it. */
  readonly folder: string;
  /** The path of the admin kubeconfig. */
  readonly kubeconfig: string;
  readonly admin: Access;
  readonly authority: Authority;
  /** The running process of a program. */
  process(name: Binary): LeashedProcess;
  /** kubectl as the admin. */
  readonly kubectl: Kubectl;
  /** A request as the admin without kubectl. */
  request(method: string, path: string, body?: unknown, contentType?: string): Promise<ApiAnswer>;
  /** The object at an API path; undefined if it does not exist. */
  get(path: string): Promise<Json | undefined>;
  /** Applies objects with server-side apply, CRDs first, and waits until these are established. */
  apply(objects: readonly object[]): Promise<void>;
  /**
   * The path of a kubeconfig with a token of an existing service account, valid for an hour.
   * `server` overrides the URL.
   */
  userKubeconfig(namespace: string, serviceAccount: string, server?: string): Promise<string>;
  /** The path of a kubeconfig for a user of `apiServer.users`. */
  kubeconfigOf(user: string, server?: string): Promise<string>;
  /** Kills the API server: connections break and new ones are refused. */
  stopApiServer(): Promise<void>;
  startApiServer(): Promise<void>;
  restartApiServer(): Promise<void>;
  /** Freezes the API server: it accepts connections but does not respond. */
  pauseApiServer(): Promise<void>;
  resumeApiServer(): void;
  /** Freezes etcd: the API server serves reads from memory, and writes time out. */
  pauseEtcd(): Promise<void>;
  resumeEtcd(): void;
  /**
   * Compacts etcd. A watch from an old version fails with 410 only after `restartApiServer`, or
   * with `apiServer: { args: ['--watch-cache=false'] }`, because the API server serves watches from
   * its cache.
   */
  compactEtcd(): Promise<void>;
  /** All requests so far except those of the API server itself. See `countBy`. */
  auditRequests(): Promise<AuditedRequest[]>;
  /** Sets the readiness of a simulated pod. */
  setPodReady(namespace: string, name: string, ready: boolean): Promise<void>;
  stop(): Promise<void>;
}

/** The programs that the options require. */
const programsOf = ({
  kwok,
  controllerManager = kwok !== undefined,
  scheduler = kwok !== undefined,
}: ClusterOptions): Binary[] => [
  'etcd',
  'kube-apiserver',
  'kubectl',
  ...(controllerManager ? (['kube-controller-manager'] as const) : []),
  ...(scheduler ? (['kube-scheduler'] as const) : []),
  ...(kwok ? (['kwok'] as const) : []),
];

/** Why such a cluster cannot run on this machine, if so. */
export function whyNoCluster(options: ClusterOptions = {}): string | undefined {
  const missing = ['openssl', 'setpriv'].filter(name => !findOnPath([name], process.env));
  return missing.length > 0
    ? `${missing.join(' and ')} not found on PATH`
    : whyNoBinaries(programsOf(options));
}

/**
 * Starts a cluster, and builds missing programs first (see binaries.ts). Rejects with the end of
 * the log of a program that did not start.
 */
export async function startCluster(options: ClusterOptions = {}): Promise<Cluster> {
  const needed = programsOf(options);
  const programs = await kubeBinaries(needed);
  const folder = await mkdtemp(join(tmpdir(), 'pressroom-test-kube-'));
  const running = new Map<string, LeashedProcess>();
  const stop = async () => {
    // Clients are stopped before their servers.
    for (const process of [...running.values()].reverse()) await process.kill();
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  const started = (process: LeashedProcess) => running.set(process.name, process);
  try {
    const etcd = await startEtcd(programs.etcd, folder);
    started(etcd.process);
    const apiServer = await createApiServer(
      programs['kube-apiserver'],
      folder,
      etcd.url,
      options.apiServer ?? {},
    );
    const startApiServer = async () => {
      await apiServer.start();
      started(apiServer.process());
    };
    await startApiServer();
    const cluster: Cluster = {
      ...(await asAdmin(folder, apiServer, programs.kubectl)),
      ...faultsOf(etcd, apiServer, startApiServer),
      process: name => running.get(name)!,
      stop,
    };
    const { controllerManager } = options;
    const keys = {
      serviceAccountKeyFile: apiServer.serviceAccountKeyFile,
      caFile: apiServer.authority.certFile,
    };
    const more = typeof controllerManager === 'object' ? controllerManager.args : [];
    const has = (name: Binary) => needed.includes(name);
    if (has('kube-controller-manager'))
      started(
        await startControllerManager(programs['kube-controller-manager'], cluster, keys, more),
      );
    if (has('kube-scheduler')) started(await startScheduler(programs['kube-scheduler'], cluster));
    if (options.kwok)
      started(await startSimulatedNodes(programs.kwok, cluster, cluster.apply, options.kwok.nodes));
    return cluster;
  } catch (error) {
    await stop();
    throw error;
  }
}

async function asAdmin(folder: string, apiServer: ApiServer, kubectlProgram: string) {
  const admin = apiServer.accessOf('admin');
  const kubeconfig = await writeKubeconfig(folder, admin);
  const kubectl = kubectlWith(kubectlProgram, kubeconfig, folder);
  const request: Cluster['request'] = (...args) => apiRequest(admin, ...args);
  return {
    folder,
    kubeconfig,
    admin,
    authority: apiServer.authority,
    kubectl,
    request,
    get: async (path: string): Promise<Json | undefined> => {
      const { status, body } = await request('GET', path);
      if (status === 404) return undefined;
      if (status !== 200)
        throw new Error(`GET ${path} returned ${status}: ${JSON.stringify(body)}`);
      return body;
    },
    apply: (objects: readonly object[]) => applyObjects(kubectl, objects),
    userKubeconfig: async (namespace: string, serviceAccount: string, server = admin.server) => {
      const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${serviceAccount}/token`;
      const { status, body } = await request('POST', path, {
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenRequest',
        spec: {},
      });
      if (status !== 201)
        throw new Error(`no token for ${namespace}/${serviceAccount}: ${JSON.stringify(body)}`);
      return writeKubeconfig(folder, { server, caFile: admin.caFile, token: body.status.token });
    },
    kubeconfigOf: (user: string, server = admin.server) =>
      writeKubeconfig(folder, { ...apiServer.accessOf(user), server }),
    setPodReady: (namespace: string, name: string, ready: boolean) =>
      setPodReady(request, namespace, name, ready),
    auditRequests: () => readAudit(apiServer.auditFile),
  };
}

const faultsOf = (etcd: Etcd, apiServer: ApiServer, startApiServer: () => Promise<void>) => ({
  stopApiServer: apiServer.stop,
  startApiServer,
  restartApiServer: async () => {
    await apiServer.stop();
    await startApiServer();
  },
  pauseApiServer: () => apiServer.process().freeze(),
  resumeApiServer: () => apiServer.process().thaw(),
  pauseEtcd: etcd.process.freeze,
  resumeEtcd: etcd.process.thaw,
  compactEtcd: etcd.compact,
});
