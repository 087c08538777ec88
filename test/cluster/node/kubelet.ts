// The kubelet and the kube-proxy of a node.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Cluster } from '../kube/cluster.ts';
import type { LeashedProcess } from '../kube/leashed-process.ts';
import { SOCKET } from './containerd.ts';
import type { NodeHost } from './node-host.ts';

export const NODE = 'one';
/** Users for kubelet and kube-proxy; see `apiServer.users` of a cluster. */
export const NODE_USERS = { [`system:node:${NODE}`]: ['system:nodes'], 'system:kube-proxy': [] };

interface KubeletParts {
  host: NodeHost;
  cluster: Cluster;
  /** URL of the API server, reachable from the node. */
  server: string;
  folder: string;
}

export async function startKubelet(
  program: string,
  { host, cluster, server, folder }: KubeletParts,
  cgroupRoot: string,
): Promise<LeashedProcess> {
  const config = {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    address: host.nodeAddress,
    // The address is only reachable from this machine.
    authentication: { anonymous: { enabled: true }, webhook: { enabled: false } },
    authorization: { mode: 'AlwaysAllow' },
    containerRuntimeEndpoint: `unix://${SOCKET}`,
    cgroupDriver: 'cgroupfs',
    cgroupRoot,
    failSwapOn: false,
    enforceNodeAllocatable: [],
    // The node shares the disk of the machine, so disk pressure is disabled.
    evictionHard: {
      'memory.available': '0%',
      'nodefs.available': '0%',
      'nodefs.inodesFree': '0%',
      'imagefs.available': '0%',
    },
    imageGCHighThresholdPercent: 100,
    imageGCLowThresholdPercent: 99,
    clusterDNS: [host.nodeAddress],
    clusterDomain: 'cluster.local',
    resolvConf: join(folder, 'resolv.conf'),
    podLogsDir: '/var/log/pods',
    volumePluginDir: join(folder, 'volume-plugins'),
  };
  await writeFile(join(folder, 'resolv.conf'), `nameserver ${host.nodeAddress}\n`);
  await writeFile(join(folder, 'kubelet.json'), JSON.stringify(config));
  return host.start(
    'kubelet',
    [
      program,
      `--config=${join(folder, 'kubelet.json')}`,
      `--kubeconfig=${await cluster.kubeconfigOf(`system:node:${NODE}`, server)}`,
      `--hostname-override=${NODE}`,
      `--node-ip=${host.nodeAddress}`,
      '--v=1',
    ],
    join(folder, 'kubelet.log'),
  );
}

export async function startKubeProxy(
  program: string,
  { host, cluster, server, folder }: KubeletParts,
): Promise<LeashedProcess> {
  const config = {
    apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
    kind: 'KubeProxyConfiguration',
    clientConnection: { kubeconfig: await cluster.kubeconfigOf('system:kube-proxy', server) },
    hostnameOverride: NODE,
    mode: 'iptables',
    clusterCIDR: host.pods,
    // Conntrack settings apply to the whole machine and are not changed.
    conntrack: { maxPerCore: 0, min: 0 },
    healthzBindAddress: '127.0.0.1:10256',
    metricsBindAddress: '127.0.0.1:10249',
  };
  await writeFile(join(folder, 'kube-proxy.json'), JSON.stringify(config));
  return host.start(
    'kube-proxy',
    [program, `--config=${join(folder, 'kube-proxy.json')}`],
    join(folder, 'kube-proxy.log'),
  );
}
