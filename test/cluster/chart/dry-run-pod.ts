// Creates the pod of an object with a dry run, as its controller would.
import type { Cluster } from '../kube/cluster.ts';
import { type KubeObject, podOf } from './helm.ts';

/** The status and the error message of the API server. */
export async function dryRunPod(
  cluster: Cluster,
  object: KubeObject,
): Promise<{ status: number; message: string }> {
  const pod = podOf(object)!;
  const { name, namespace } = object.metadata;
  const volumes = (object.spec.volumeClaimTemplates ?? []).map(({ metadata }: KubeObject) => ({
    name: metadata.name,
    persistentVolumeClaim: { claimName: 'some' },
  }));
  const spec = { ...pod.spec, volumes: [...(pod.spec.volumes ?? []), ...volumes] };
  const { labels, annotations } = pod.metadata;
  const response = await cluster.request(
    'POST',
    `/api/v1/namespaces/${namespace}/pods?dryRun=All&fieldValidation=Strict`,
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: `${name}-dry`, namespace, labels, annotations },
      spec,
    },
  );
  return { status: response.status, message: response.body.message ?? '' };
}
