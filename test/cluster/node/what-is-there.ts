// What stands behind a failed step: the pods of a cluster, what happened to them, and what those of
// the product and of the node wrote last.
import type { RealCluster } from './real-cluster.ts';

const LINES = 25;

/**
 * A text for people, with the logs of the product in `namespace`. Never throws: it is asked for
 * when something is broken already.
 */
export async function whatIsThere(
  { cluster, lastWords }: RealCluster,
  namespace: string,
): Promise<string> {
  const ask = (...args: string[]) =>
    cluster.kubectl(...args).catch((error: Error) => error.message);
  const parts = await Promise.all([
    ask('get', 'pods', '--all-namespaces', '--output=wide'),
    ask('get', 'browserpools', '--all-namespaces', '--output=yaml'),
    ask('get', 'events', '--all-namespaces', '--sort-by=.lastTimestamp').then(text =>
      text
        .split('\n')
        .slice(-2 * LINES)
        .join('\n'),
    ),
    ask(
      'logs',
      `--namespace=${namespace}`,
      '--selector=app.kubernetes.io/name=pressroom',
      '--all-containers',
      '--prefix',
      `--tail=${LINES}`,
    ),
  ]);
  return [...parts, lastWords()].join('\n');
}
