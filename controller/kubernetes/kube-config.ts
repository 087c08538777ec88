// Where the API server is and who we are there: the pod's service account, or the kubeconfig of
// KUBECONFIG or the home folder.
import { readFileSync } from 'node:fs';
import { KubeConfig } from '@kubernetes/client-node';
import { ConfigError } from '../../common/config.ts';

const OWN_NAMESPACE = '/var/run/secrets/kubernetes.io/serviceaccount/namespace';

/**
 * Also gives the namespace that this process is in. Throws ConfigError when nothing tells where a
 * cluster is.
 */
export function loadKubeConfig(): { kubeConfig: KubeConfig; namespace: string } {
  const kubeConfig = new KubeConfig();
  try {
    kubeConfig.loadFromDefault();
  } catch (error) {
    throw new ConfigError(`The kubeconfig cannot be read: ${(error as Error).message}`);
  }
  const cluster = kubeConfig.getCurrentCluster();
  // What the library makes up where nothing is configured.
  if (!cluster || cluster.server === 'http://localhost:8080')
    throw new ConfigError(
      'No Kubernetes cluster is configured: run this in a pod with a service account, or set KUBECONFIG to the path of a kubeconfig.',
    );
  return {
    kubeConfig,
    namespace:
      ownNamespace() ??
      kubeConfig.getContextObject(kubeConfig.getCurrentContext())?.namespace ??
      'default',
  };
}

function ownNamespace(): string | undefined {
  try {
    return readFileSync(OWN_NAMESPACE, 'utf8').trim();
  } catch {
    return undefined;
  }
}
