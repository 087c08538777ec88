// Secrets in each place of an installation that a support bundle reads or must not read.
import { execFileSync } from 'node:child_process';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { PRESSROOM_PROGRAM, runNodeProgram } from '../../support/run-program.ts';
import type { Values } from '../chart/helm.ts';
import { kubeBinaries } from '../kube/binaries.ts';
import type { Cluster } from '../kube/cluster.ts';

export const PLANTED = {
  environment: 'sk_live_51Hq8ZpKXw3vT',
  annotation: 'eyJhbGciOiJIUzI1NiJ9.e30.4hq0',
  path: 'link-token-4f9QmT7bXz1LrC8sVw2K',
  event: 'pepper-71d0c5e9a3b2f864',
};

/** For the API and the workers in the values of the chart. */
export const PLANTED_VALUES: Values = {
  extraEnv: [{ name: 'PAYMENT_TOKEN', value: PLANTED.environment }],
  podAnnotations: { 'example.com/token': PLANTED.annotation },
};

/** Creates an Event whose message contains a secret. */
export const plantEvent = (cluster: Cluster, namespace: string) =>
  cluster.apply([
    {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: 'planted', namespace },
      involvedObject: { kind: 'Pod', namespace, name: 'planted' },
      type: 'Warning',
      reason: 'PlantedByTheTest',
      message: `could not log in with ${PLANTED.event}`,
    },
  ]);

export interface UnpackedBundle {
  errors: string;
  /** Contents by the path in the archive. */
  files: ReadonlyMap<string, string>;
}

/** Runs `pressroom support-bundle` as the admin and unpacks the archive in `folder`. */
export async function supportBundle(
  { kubeconfig, folder: home }: Cluster,
  namespace: string,
  folder: string,
): Promise<UnpackedBundle> {
  const { kubectl } = await kubeBinaries(['kubectl']);
  const env = {
    PATH: `${dirname(kubectl)}:${process.env.PATH}`,
    KUBECONFIG: kubeconfig,
    HOME: home,
  };
  await mkdir(folder);
  const archive = join(folder, 'bundle.tar.gz');
  const args = ['support-bundle', '--namespace', namespace, '--output', archive];
  const { code, errors } = await runNodeProgram(PRESSROOM_PROGRAM, args, env);
  if (code !== 0) throw new Error(`support-bundle exited with ${code}: ${errors}`);
  execFileSync('tar', ['-xzf', archive, '-C', folder]);
  const root = join(folder, 'pressroom-support');
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter(entry => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(root.length + 1));
  const contents = await Promise.all(
    paths.map(async path => [path, await readFile(join(root, path), 'utf8')] as const),
  );
  return { errors, files: new Map(contents) };
}
