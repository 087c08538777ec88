// Runs the Jobs and the controller of the chart as processes of this machine, with the rights that
// the chart gives them: these clusters have no nodes.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Cluster } from '../kube/cluster.ts';
import { type KubeObject, NAMESPACE, RELEASE } from './helm.ts';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
/** What such a process needs besides what the chart gives it. */
const SURROUNDINGS = { PATH: process.env.PATH, HOME: process.env.HOME };

/** `objects`: what the chart renders. Resolves with what each container printed. */
export async function runHooks(cluster: Cluster, objects: KubeObject[]): Promise<string[]> {
  const setup = objects.filter(
    ({ metadata }) => metadata.labels['app.kubernetes.io/component'] === 'setup',
  );
  const rights = setup.filter(({ kind }) => kind !== 'Job');
  await cluster.apply(rights);
  const said: string[] = [];
  for (const job of setup.filter(({ kind }) => kind === 'Job')) {
    const { containers, serviceAccountName } = job.spec.template.spec;
    const kubeconfig = await cluster.userKubeconfig(NAMESPACE, serviceAccountName);
    for (const { command, env } of containers) {
      const [program, ...args] = command.map((word: string) => word.replace(/^\/app\//, ROOT));
      const given = Object.fromEntries(env.map(({ name, value }: KubeObject) => [name, value]));
      said.push(
        (await run(program, args, { env: { ...SURROUNDINGS, KUBECONFIG: kubeconfig, ...given } }))
          .stdout,
      );
    }
  }
  await cluster.kubectl('delete', '-f', '-', {
    input: JSON.stringify({ apiVersion: 'v1', kind: 'List', items: rights }),
  });
  return said;
}

/** The controller of `deployment`, with its variables and rights; `onOutput` receives its log. */
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
      ...SURROUNDINGS,
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
