// The containerd of a node: its configuration, the network that its pods get, and images that are
// put into it by hand, since no registry is asked for any.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from '../../support/eventually.ts';
import type { NodePrograms } from './node-programs.ts';
import type { Room } from './room.ts';

const START_MS = 120_000;
const IMPORT =
  'set -o pipefail; layout=$1; shift; tar --create --directory "$layout" . | "$@" images import -';
/** In the room, where no other containerd is. */
export const SOCKET = '/run/containerd/containerd.sock';

/**
 * The network of a pod: an interface with a route to the node and nothing else, so that all that
 * pods say to each other goes through the rules of kube-proxy.
 */
const network = ({ pods }: Room) => ({
  cniVersion: '1.0.0',
  name: 'pods',
  plugins: [
    {
      type: 'ptp',
      ipMasq: false,
      ipam: { type: 'host-local', ranges: [[{ subnet: pods }]], routes: [{ dst: '0.0.0.0/0' }] },
    },
  ],
});

const configuration = (
  folder: string,
  { runc, plugins }: NodePrograms,
  pauseImage: string,
) => `version = 2
root = "${join(folder, 'containerd')}"
state = "/run/containerd"
[grpc]
address = "${SOCKET}"
[plugins."io.containerd.grpc.v1.cri"]
sandbox_image = "${pauseImage}"
# Lowering a process' score needs a right that not every root has.
restrict_oom_score_adj = true
[plugins."io.containerd.grpc.v1.cri".cni]
bin_dir = "${plugins}"
conf_dir = "${join(folder, 'networks')}"
[plugins."io.containerd.grpc.v1.cri".containerd]
snapshotter = "overlayfs"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
BinaryName = "${runc}"
`;

export interface Containerd {
  /** Puts the images of an OCI layout (a folder) into it. */
  importImages(layout: string): Promise<void>;
}

/**
 * `pauseImage` runs as the first container of each pod and does nothing; import it before the first
 * pod starts. Resolves when it answers.
 */
export async function startContainerd(
  room: Room,
  programs: NodePrograms,
  folder: string,
  pauseImage: string,
): Promise<Containerd> {
  await mkdir(join(folder, 'networks'));
  await writeFile(join(folder, 'networks', 'pods.conflist'), JSON.stringify(network(room)));
  const config = join(folder, 'containerd.toml');
  await writeFile(config, configuration(folder, programs, pauseImage));
  const env = { PATH: programs.path };
  const process = room.start(
    'containerd',
    [programs.containerd, '--config', config],
    join(folder, 'containerd.log'),
    env,
  );
  const ctr = [programs.ctr, '--address', SOCKET, '--namespace', 'k8s.io'] as const;
  await eventually(async () => {
    if (process.alive()) await room.run(...ctr, 'version');
  }, START_MS);
  if (!process.alive()) throw new Error(`containerd ended at its start:\n${process.lastWords()}`);
  return {
    importImages: async layout => {
      await room.run('bash', '-c', IMPORT, 'bash', layout, ...ctr);
    },
  };
}
