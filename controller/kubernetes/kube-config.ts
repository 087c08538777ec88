// Loads the cluster address and credentials: from the service account of the pod, or from the
// kubeconfig in KUBECONFIG or the home directory.
import { readFileSync } from 'node:fs';
import { KubeConfig } from '@kubernetes/client-node';
import { ConfigError } from '../../common/config.ts';

const OWN_NAMESPACE = '/var/run/secrets/kubernetes.io/serviceaccount/namespace';

/** Also returns the namespace of this process. Throws ConfigError if no cluster is configured. */
export function loadKubeConfig(): { kubeConfig: KubeConfig; namespace: string } {
  const kubeConfig = new KubeConfig();
  try {
    kubeConfig.loadFromDefault();
  } catch (error) {
    throw new ConfigError(`Cannot read the kubeconfig: ${(error as Error).message}`);
  }
  const cluster = kubeConfig.getCurrentCluster();
  // The default of the library if nothing is configured.
  if (!cluster || cluster.server === 'http://localhost:8080')
    throw new ConfigError(
      'No Kubernetes cluster is configured. Run the controller in a pod with a service account, or set KUBECONFIG to the path of a kubeconfig.',
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
