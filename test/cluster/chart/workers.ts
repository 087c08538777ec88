// The objects that the controller would create for the chart's pool.
import { ownedResourcesOf } from '../../../controller/owned-resources.ts';
import { type BrowserPool, specSchema } from '../../../crds/browser-pool.ts';
import { type KubeObject, NAMESPACE } from './helm.ts';

/** The owned objects of the BrowserPool in `objects`; empty without a pool. */
export function childrenOfPool(objects: KubeObject[]): KubeObject[] {
  const pool = objects.find(({ kind }) => kind === 'BrowserPool');
  if (pool === undefined) return [];
  const metadata = {
    namespace: NAMESPACE,
    uid: 'd4f3c4f0-0000-4000-8000-000000000000',
    resourceVersion: '1',
    generation: 1,
    ...pool.metadata,
  };
  const whole: BrowserPool = {
    apiVersion: 'pressroom.dev/v1alpha1',
    kind: 'BrowserPool',
    metadata,
    spec: specSchema.parse(pool.spec),
  };
  return ownedResourcesOf(whole, 1).map(({ object }) => object);
}
