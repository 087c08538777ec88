// A real Kubernetes of a test's own: etcd and kube-apiserver, and what more is asked for.
// Everything lies in one temporary folder and on free ports of loopback, so several may run at
// once; all of it ends with the test's process, however that ends.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findOnPath } from '../../../standalone/cache.ts';
import { type ApiAnswer, apiRequest, type Json } from './api-request.ts';
import { type ApiServer, type ApiServerOptions, createApiServer } from './api-server.ts';
import { type AuditedRequest, readAudit } from './audit.ts';
import type { Authority } from './authority.ts';
import { kubeBinaries, whyNoBinaries } from './binaries.ts';
import { startControllerManager, startPlayedNodes, startScheduler } from './control-plane.ts';
import { type Etcd, startEtcd } from './etcd.ts';
import { type Access, writeKubeconfig } from './kubeconfig.ts';
import { applyObjects, type Kubectl, kubectlWith } from './kubectl.ts';
import { setPodReady } from './kwok.ts';
import type { LeashedProcess } from './leashed-process.ts';
import type { Binary } from './versions.ts';

export interface ClusterOptions {
  /**
   * Makes ReplicaSets, pods and endpoints of what is written, collects garbage, makes default
   * service accounts. `args`: more of its arguments.
   */
  controllerManager?: boolean | { args: readonly string[] };
  /** Gives pods a node. */
  scheduler?: boolean;
  /** Plays so many nodes and their pods. Asks for the two above by itself. */
  kwok?: { nodes: number };
  apiServer?: ApiServerOptions;
}

export interface Cluster {
  /** Where all of it lies: logs, keys, kubeconfigs. Removed by `stop`. */
  readonly folder: string;
  /** The path of the kubeconfig of a user who may do everything. */
  readonly kubeconfig: string;
  readonly admin: Access;
  readonly authority: Authority;
  /** The processes that run, by their program's name. */
  process(name: Binary): LeashedProcess;
  /** As the admin. */
  readonly kubectl: Kubectl;
  /** One question as the admin, without kubectl. */
  request(method: string, path: string, body?: unknown, contentType?: string): Promise<ApiAnswer>;
  /** The object at a path of the API; undefined when there is none. */
  get(path: string): Promise<Json | undefined>;
  /**
   * Applies objects on the server's side; definitions of new kinds first, and waits until these can
   * be used.
   */
  apply(objects: readonly object[]): Promise<void>;
  /**
   * The path of a kubeconfig with a token of that service account (which must exist), good for an
   * hour; for `server` when it is another address of this cluster.
   */
  userKubeconfig(namespace: string, serviceAccount: string, server?: string): Promise<string>;
  /** The path of a kubeconfig for a user of `apiServer.users`. */
  kubeconfigOf(user: string, server?: string): Promise<string>;
  /** SIGKILL: connections break, and new ones are refused. */
  stopApiServer(): Promise<void>;
  startApiServer(): Promise<void>;
  restartApiServer(): Promise<void>;
  /** The API server stands still: connections are accepted, and nothing is answered. */
  pauseApiServer(): Promise<void>;
  resumeApiServer(): void;
  /**
   * The API server answers what it has in memory, and writes wait until they run into a time limit.
   */
  pauseEtcd(): Promise<void>;
  resumeEtcd(): void;
  /**
   * etcd forgets all old versions. The API server answers watches from its own memory, which begins
   * anew with `restartApiServer`: only then, or always with `apiServer: { args:
   * ['--watch-cache=false'] }`, who resumes a watch from an old version is answered 410.
   */
  compactEtcd(): Promise<void>;
  /** All that was asked so far, the API server's own questions left out. See `countBy`. */
  auditRequests(): Promise<AuditedRequest[]>;
  /** A pod that kwok plays becomes ready, or no longer is. */
  setPodReady(namespace: string, name: string, ready: boolean): Promise<void>;
  stop(): Promise<void>;
}

/** The programs that these options ask for. */
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

/** Why there can be no such cluster on this machine; undefined when there can. */
export function whyNoCluster(options: ClusterOptions = {}): string | undefined {
  const missing = ['openssl', 'setpriv'].filter(name => !findOnPath([name], process.env));
  return missing.length > 0
    ? `${missing.join(' and ')} not found on PATH`
    : whyNoBinaries(programsOf(options));
}

/**
 * Builds the programs when they are not there yet (see binaries.ts for the time that takes).
 * Rejects with the last words of what did not start.
 */
export async function startCluster(options: ClusterOptions = {}): Promise<Cluster> {
  const wanted = programsOf(options);
  const programs = await kubeBinaries(wanted);
  const folder = await mkdtemp(join(tmpdir(), 'pressroom-test-kube-'));
  const running = new Map<string, LeashedProcess>();
  const stop = async () => {
    // Those that ask first, so that none of them sees the others die.
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
    const has = (name: Binary) => wanted.includes(name);
    if (has('kube-controller-manager'))
      started(
        await startControllerManager(programs['kube-controller-manager'], cluster, keys, more),
      );
    if (has('kube-scheduler')) started(await startScheduler(programs['kube-scheduler'], cluster));
    if (options.kwok)
      started(await startPlayedNodes(programs.kwok, cluster, cluster.apply, options.kwok.nodes));
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
        throw new Error(`GET ${path} is answered with ${status}: ${JSON.stringify(body)}`);
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
