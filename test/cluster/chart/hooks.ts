// Runs the Jobs and the controller of the chart as local processes with the permissions from the
// chart, because these test clusters have no nodes.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Cluster } from '../kube/cluster.ts';
import { type KubeObject, NAMESPACE, RELEASE } from './helm.ts';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
/** Variables that a local process needs in addition to those of the chart. */
const LOCAL_ENV = { PATH: process.env.PATH, HOME: process.env.HOME };

/** Runs the hook Jobs in the rendered `objects`. Resolves with the output of each container. */
export async function runHooks(cluster: Cluster, objects: KubeObject[]): Promise<string[]> {
  const setup = objects.filter(
    ({ metadata }) => metadata.labels['app.kubernetes.io/component'] === 'setup',
  );
  const rights = setup.filter(({ kind }) => kind !== 'Job');
  await cluster.apply(rights);
  const outputs: string[] = [];
  for (const job of setup.filter(({ kind }) => kind === 'Job')) {
    const { containers, serviceAccountName } = job.spec.template.spec;
    const kubeconfig = await cluster.userKubeconfig(NAMESPACE, serviceAccountName);
    for (const { command, env } of containers) {
      const [program, ...args] = command.map((word: string) => word.replace(/^\/app\//, ROOT));
      const given = Object.fromEntries(env.map(({ name, value }: KubeObject) => [name, value]));
      outputs.push(
        (await run(program, args, { env: { ...LOCAL_ENV, KUBECONFIG: kubeconfig, ...given } }))
          .stdout,
      );
    }
  }
  await cluster.kubectl('delete', '-f', '-', {
    input: JSON.stringify({ apiVersion: 'v1', kind: 'List', items: rights }),
  });
  return outputs;
}

/** Starts the controller of `deployment` with its variables and permissions. */
export async function startController(
  cluster: Cluster,
  deployment: KubeObject,
  onOutput: (text: string) => void = () => {},
): Promise<ChildProcess> {
  const { env } = deployment.spec.template.spec.containers[0];
  const given = Object.fromEntries(
    env.map(({ name, value }: KubeObject) => [name, value ?? 'controller-1']),
  );
  const kubeconfig = await cluster.userKubeconfig(NAMESPACE, `${RELEASE}-controller`);
  const child = spawn('node', ['controller/main.ts'], {
    cwd: ROOT,
    env: {
      ...LOCAL_ENV,
      KUBECONFIG: kubeconfig,
      ...given,
      PRESSROOM_OPERATIONS_PORT: '0',
      PRESSROOM_OPERATIONS_HOST: '127.0.0.1',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  child.stdout.on('data', (chunk: Buffer) => onOutput(chunk.toString()));
  return child;
}
