// The DNS server of a cluster: CoreDNS, which resolves only its Services and pods, so that no query
// leaves the machine.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { LeashedProcess } from '../kube/leashed-process.ts';
import type { NodeHost } from './node-host.ts';

/** `kubeconfig` must have access to all Services and endpoints. */
export async function startDns(
  program: string,
  host: NodeHost,
  kubeconfig: string,
  folder: string,
): Promise<LeashedProcess> {
  const file = join(folder, 'Corefile');
  await writeFile(
    file,
    `cluster.local:53 in-addr.arpa:53 {
  bind ${host.nodeAddress}
  errors
  kubernetes cluster.local in-addr.arpa {
    kubeconfig ${kubeconfig}
    ttl 5
  }
}
.:53 {
  bind ${host.nodeAddress}
  errors
  template ANY ANY {
    rcode NXDOMAIN
  }
}
`,
  );
  return host.start('coredns', [program, '-conf', file], join(folder, 'coredns.log'));
}
