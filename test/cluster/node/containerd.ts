// The containerd of a node: its configuration, the pod network, imported images, and registries of
// tests.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from '../../support/eventually.ts';
import type { NodeHost } from './node-host.ts';
import type { NodePrograms } from './node-programs.ts';

const START_MS = 120_000;
const IMPORT =
  'set -o pipefail; layout=$1; shift; tar --create --directory "$layout" . | "$@" images import -';
/** The folder in which containerd looks for the address of a registry before each pull. */
const REGISTRIES = 'registries';
/** Inside the namespaces of the node, where no other containerd runs. */
export const SOCKET = '/run/containerd/containerd.sock';

/**
 * The pod network: an interface with only a route to the node, so that traffic between pods passes
 * the rules of kube-proxy.
 */
const network = ({ pods }: NodeHost) => ({
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
[plugins."io.containerd.grpc.v1.cri".registry]
config_path = "${join(folder, REGISTRIES)}"
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
  /** Imports the images of an OCI layout (a folder). */
  importImages(layout: string): Promise<void>;
  /** Images of the registry `name`, such as `registry.test`, are pulled from `url`. */
  addRegistry(name: string, url: string): Promise<void>;
}

/**
 * Starts containerd and resolves when it is ready. `pauseImage` is the sandbox image of pods;
 * import it before the first pod starts.
 */
export async function startContainerd(
  host: NodeHost,
  programs: NodePrograms,
  folder: string,
  pauseImage: string,
): Promise<Containerd> {
  await mkdir(join(folder, 'networks'));
  await writeFile(join(folder, 'networks', 'pods.conflist'), JSON.stringify(network(host)));
  const config = join(folder, 'containerd.toml');
  await writeFile(config, configuration(folder, programs, pauseImage));
  const env = { PATH: programs.path };
  const process = host.start(
    'containerd',
    [programs.containerd, '--config', config],
    join(folder, 'containerd.log'),
    env,
  );
  const ctr = [programs.ctr, '--address', SOCKET, '--namespace', 'k8s.io'] as const;
  await eventually(async () => {
    if (process.alive()) await host.run(...ctr, 'version');
  }, START_MS);
  if (!process.alive()) throw new Error(`containerd exited at startup:\n${process.logTail()}`);
  return {
    importImages: async layout => {
      await host.run('bash', '-c', IMPORT, 'bash', layout, ...ctr);
    },
    addRegistry: async (name, url) => {
      await mkdir(join(folder, REGISTRIES, name), { recursive: true });
      await writeFile(
        join(folder, REGISTRIES, name, 'hosts.toml'),
        `server = "${url}"\n[host."${url}"]\ncapabilities = ["pull", "resolve"]\n`,
      );
    },
  };
}
