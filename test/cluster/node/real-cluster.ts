// A complete Kubernetes cluster with one real node on this machine. It always ends with the test
// process and leaves nothing behind.
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import type { Notify } from '../../../standalone/run-command.ts';
import { folderOfThisRun } from '../../support/temporary.ts';
import type { Json } from '../kube/api-request.ts';
import { kubeBinaries, whyNoBinaries } from '../kube/binaries.ts';
import { type Cluster, startCluster, whyNoCluster } from '../kube/cluster.ts';
import type { LeashedProcess } from '../kube/leashed-process.ts';
import type { Binary } from '../kube/versions.ts';
import { type Cgroups, createCgroups } from './cgroups.ts';
import { type Containerd, startContainerd } from './containerd.ts';
import { startDns } from './dns.ts';
import { NODE, NODE_USERS, startKubelet, startKubeProxy } from './kubelet.ts';
import { type NodeHost, startNodeHost } from './node-host.ts';
import { nodePrograms, whyNoNode } from './node-programs.ts';
import { untilSuccess } from './until-success.ts';

const READY_MS = 300_000;
const PREFIX = 'pressroom-test-node-';
const OF_THE_NODE = ['kubelet', 'kube-proxy', 'coredns'] as const satisfies readonly Binary[];
const CONTROL = { controllerManager: true, scheduler: true };

/**
 * Why a real cluster cannot run on this machine, if known. `more` are additional programs of a
 * test.
 */
export const whyNoRealCluster = async (
  notify: Notify,
  more: readonly Binary[] = [],
): Promise<string | undefined> =>
  whyNoCluster(CONTROL) ?? whyNoBinaries([...OF_THE_NODE, ...more]) ?? (await whyNoNode(notify));

export interface RealCluster {
  readonly cluster: Cluster;
  readonly host: NodeHost;
  readonly images: Containerd;
  /** The ends of the logs of the node's programs. */
  logTails(): string;
  stop(): Promise<void>;
}

/**
 * Starts the cluster and resolves when the node is ready. `pauseImage` is the sandbox image of
 * pods; import it with `images.importImages` before the first pod.
 */
export async function startRealCluster(pauseImage: string, notify: Notify): Promise<RealCluster> {
  const [debian, programs] = [await nodePrograms(notify), await kubeBinaries(OF_THE_NODE, notify)];
  const folder = await folderOfThisRun(tmpdir(), PREFIX);
  let [cgroups, host, cluster]: [Cgroups?, NodeHost?, Cluster?] = [];
  const stop = async () => {
    await cluster?.stop();
    await host?.close();
    await cgroups?.remove();
    await rm(folder, { recursive: true, force: true, maxRetries: 10 });
  };
  const running: LeashedProcess[] = [];
  const logTails = () =>
    running.map(process => `${process.name}:\n${process.logTail()}`).join('\n');
  try {
    cgroups = await createCgroups();
    host = await startNodeHost(folder);
    const images = await startContainerd(host, debian, folder, pauseImage);
    cluster = await startCluster({
      ...CONTROL,
      // Node names cannot be resolved.
      apiServer: {
        address: host.machineAddress,
        users: NODE_USERS,
        args: ['--kubelet-preferred-address-types=InternalIP'],
      },
    });
    const server = cluster.admin.server.replace('127.0.0.1', host.machineAddress);
    const context = { host, cluster, server, folder };
    running.push(
      await startDns(programs.coredns, host, await cluster.kubeconfigOf('admin', server), folder),
      await startKubeProxy(programs['kube-proxy'], context),
      await startKubelet(programs.kubelet, context, cgroups.root),
    );
    await untilReady(cluster, running);
    return { cluster, host, images, logTails, stop };
  } catch (error) {
    const logs = logTails();
    await stop();
    throw new Error(`${(error as Error).message}\n${logs}`);
  }
}

async function untilReady(cluster: Cluster, running: readonly LeashedProcess[]): Promise<void> {
  const ended = () => running.find(process => !process.alive());
  await untilSuccess(async () => {
    if (ended()) return;
    const node: Json = await cluster.get(`/api/v1/nodes/${NODE}`);
    const ready = node?.status.conditions?.find(({ type }: Json) => type === 'Ready');
    if (ready?.status !== 'True' || node.spec.taints)
      throw new Error(`the node is not ready: ${ready?.message}`);
  }, READY_MS);
  if (ended()) throw new Error(`${ended()!.name} exited at startup`);
}
