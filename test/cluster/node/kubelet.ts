// The kubelet and the kube-proxy of a node.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Cluster } from '../kube/cluster.ts';
import type { LeashedProcess } from '../kube/leashed-process.ts';
import { SOCKET } from './containerd.ts';
import type { Room } from './room.ts';

export const NODE = 'one';
/** As the API server knows them; see `apiServer.users` of a cluster. */
export const NODE_USERS = { [`system:node:${NODE}`]: ['system:nodes'], 'system:kube-proxy': [] };

interface Surroundings {
  room: Room;
  cluster: Cluster;
  /** Of the API server, as seen from the room. */
  server: string;
  folder: string;
}

export async function startKubelet(
  program: string,
  { room, cluster, server, folder }: Surroundings,
  cgroupRoot: string,
): Promise<LeashedProcess> {
  const config = {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    address: room.nodeAddress,
    // Only this machine reaches that address.
    authentication: { anonymous: { enabled: true }, webhook: { enabled: false } },
    authorization: { mode: 'AlwaysAllow' },
    containerRuntimeEndpoint: `unix://${SOCKET}`,
    cgroupDriver: 'cgroupfs',
    cgroupRoot,
    failSwapOn: false,
    enforceNodeAllocatable: [],
    // The disk is not the node's own: how full it is says nothing.
    evictionHard: {
      'memory.available': '0%',
      'nodefs.available': '0%',
      'nodefs.inodesFree': '0%',
      'imagefs.available': '0%',
    },
    imageGCHighThresholdPercent: 100,
    imageGCLowThresholdPercent: 99,
    clusterDNS: [room.nodeAddress],
    clusterDomain: 'cluster.local',
    resolvConf: join(folder, 'resolv.conf'),
    podLogsDir: '/var/log/pods',
    volumePluginDir: join(folder, 'volume-plugins'),
  };
  await writeFile(join(folder, 'resolv.conf'), `nameserver ${room.nodeAddress}\n`);
  await writeFile(join(folder, 'kubelet.json'), JSON.stringify(config));
  return room.start(
    'kubelet',
    [
      program,
      `--config=${join(folder, 'kubelet.json')}`,
      `--kubeconfig=${await cluster.kubeconfigOf(`system:node:${NODE}`, server)}`,
      `--hostname-override=${NODE}`,
      `--node-ip=${room.nodeAddress}`,
      '--v=1',
    ],
    join(folder, 'kubelet.log'),
  );
}

export async function startKubeProxy(
  program: string,
  { room, cluster, server, folder }: Surroundings,
): Promise<LeashedProcess> {
  const config = {
    apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
    kind: 'KubeProxyConfiguration',
    clientConnection: { kubeconfig: await cluster.kubeconfigOf('system:kube-proxy', server) },
    hostnameOverride: NODE,
    mode: 'iptables',
    clusterCIDR: room.pods,
    // They are the whole machine's.
    conntrack: { maxPerCore: 0, min: 0 },
    healthzBindAddress: '127.0.0.1:10256',
    metricsBindAddress: '127.0.0.1:10249',
  };
  await writeFile(join(folder, 'kube-proxy.json'), JSON.stringify(config));
  return room.start(
    'kube-proxy',
    [program, `--config=${join(folder, 'kube-proxy.json')}`],
    join(folder, 'kube-proxy.log'),
  );
}
