// A whole Kubernetes with one real node, pods included, on this machine. All of it ends with the
// test's process, however that ends, and leaves nothing behind.
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
import { nodePrograms, whyNoNode } from './node-programs.ts';
import { patiently } from './patiently.ts';
import { openRoom, type Room } from './room.ts';

const READY_MS = 300_000;
const PREFIX = 'pressroom-test-node-';
const OF_THE_NODE = ['kubelet', 'kube-proxy', 'coredns'] as const satisfies readonly Binary[];
const CONTROL = { controllerManager: true, scheduler: true };

/**
 * Why there can be no real cluster on this machine; undefined when there can. `more` are programs
 * that a test takes beside it.
 */
export const whyNoRealCluster = async (
  notify: Notify,
  more: readonly Binary[] = [],
): Promise<string | undefined> =>
  whyNoCluster(CONTROL) ?? whyNoBinaries([...OF_THE_NODE, ...more]) ?? (await whyNoNode(notify));

export interface RealCluster {
  readonly cluster: Cluster;
  readonly room: Room;
  readonly images: Containerd;
  /** The logs of the node's own programs, their last words each. */
  lastWords(): string;
  stop(): Promise<void>;
}

/**
 * `pauseImage` is what the node keeps a pod's namespaces with: an image that `images.importImages`
 * brings before the first pod. Resolves when pods can be put onto it.
 */
export async function startRealCluster(pauseImage: string, notify: Notify): Promise<RealCluster> {
  const [debian, programs] = [await nodePrograms(notify), await kubeBinaries(OF_THE_NODE, notify)];
  const folder = await folderOfThisRun(tmpdir(), PREFIX);
  let [cgroups, room, cluster]: [Cgroups?, Room?, Cluster?] = [];
  const stop = async () => {
    await cluster?.stop();
    await room?.close();
    await cgroups?.remove();
    await rm(folder, { recursive: true, force: true, maxRetries: 10 });
  };
  const running: LeashedProcess[] = [];
  const lastWords = () =>
    running.map(process => `${process.name}:\n${process.lastWords()}`).join('\n');
  try {
    cgroups = await createCgroups();
    room = await openRoom(folder);
    const images = await startContainerd(room, debian, folder, pauseImage);
    cluster = await startCluster({
      ...CONTROL,
      // The names of nodes resolve nowhere.
      apiServer: {
        address: room.machineAddress,
        users: NODE_USERS,
        args: ['--kubelet-preferred-address-types=InternalIP'],
      },
    });
    const server = cluster.admin.server.replace('127.0.0.1', room.machineAddress);
    const surroundings = { room, cluster, server, folder };
    running.push(
      await startDns(programs.coredns, room, await cluster.kubeconfigOf('admin', server), folder),
      await startKubeProxy(programs['kube-proxy'], surroundings),
      await startKubelet(programs.kubelet, surroundings, cgroups.root),
    );
    await untilReady(cluster, running);
    return { cluster, room, images, lastWords, stop };
  } catch (error) {
    const words = lastWords();
    await stop();
    throw new Error(`${(error as Error).message}\n${words}`);
  }
}

async function untilReady(cluster: Cluster, running: readonly LeashedProcess[]): Promise<void> {
  const ended = () => running.find(process => !process.alive());
  await patiently(async () => {
    if (ended()) return;
    const node: Json = await cluster.get(`/api/v1/nodes/${NODE}`);
    const ready = node?.status.conditions?.find(({ type }: Json) => type === 'Ready');
    if (ready?.status !== 'True' || node.spec.taints)
      throw new Error(`the node is not ready: ${ready?.message}`);
  }, READY_MS);
  if (ended()) throw new Error(`${ended()!.name} ended at its start`);
}
