// Diagnostics after a failed step: pods, pools, events, and the ends of the logs of product and
// node.
import type { RealCluster } from './real-cluster.ts';

const LINES = 25;

/** Returns the diagnostics as text, with the logs of the product in `namespace`. Never throws. */
export async function clusterDiagnostics(
  { cluster, logTails }: RealCluster,
  namespace: string,
): Promise<string> {
  const run = (...args: string[]) =>
    cluster.kubectl(...args).catch((error: Error) => error.message);
  const parts = await Promise.all([
    run('get', 'pods', '--all-namespaces', '--output=wide'),
    run('get', 'browserpools', '--all-namespaces', '--output=yaml'),
    run('get', 'events', '--all-namespaces', '--sort-by=.lastTimestamp').then(text =>
      text
        .split('\n')
        .slice(-2 * LINES)
        .join('\n'),
    ),
    run(
      'logs',
      `--namespace=${namespace}`,
      '--selector=app.kubernetes.io/name=pressroom',
      '--all-containers',
      '--prefix',
      `--tail=${LINES}`,
    ),
  ]);
  return [...parts, logTails()].join('\n');
}
