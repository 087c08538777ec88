// When the tests that take a real cluster run: always where that is asked for, else only when nothing has to be built for it first.
import type { Say } from '../../../standalone/run-command.ts';
import { binariesAreCached } from '../kube/binaries.ts';
import type { Binary } from '../kube/versions.ts';
import { nodeProgramsAreCached } from './node-programs.ts';
import { REAL_CLUSTER_PROGRAMS, whyNoRealCluster } from './real-cluster.ts';

/** Why such a test does not run here and now; undefined when it does. `more` are programs that it takes beside those of the cluster. */
export async function whenRealCluster(say: Say, more: readonly Binary[] = []): Promise<string | undefined> {
  const cached = binariesAreCached([...REAL_CLUSTER_PROGRAMS, ...more]) && nodeProgramsAreCached();
  if (!cached && process.env.PRESSROOM_CLUSTER_TESTS !== 'always')
    return 'the programs of a Kubernetes cluster are not in the cache folder; `npm run test:cluster` builds them (some minutes, once)';
  return whyNoRealCluster(say, more);
}
