// The name server of a cluster: CoreDNS, which knows its Services and pods and nothing else, so
// that no name leaves the machine.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { LeashedProcess } from '../kube/leashed-process.ts';
import type { Room } from './room.ts';

/** `kubeconfig` is that of a user who may see all Services and their endpoints. */
export async function startDns(
  program: string,
  room: Room,
  kubeconfig: string,
  folder: string,
): Promise<LeashedProcess> {
  const file = join(folder, 'Corefile');
  await writeFile(
    file,
    `cluster.local:53 in-addr.arpa:53 {
  bind ${room.nodeAddress}
  errors
  kubernetes cluster.local in-addr.arpa {
    kubeconfig ${kubeconfig}
    ttl 5
  }
}
.:53 {
  bind ${room.nodeAddress}
  errors
  template ANY ANY {
    rcode NXDOMAIN
  }
}
`,
  );
  return room.start('coredns', [program, '-conf', file], join(folder, 'coredns.log'));
}
