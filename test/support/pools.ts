// BrowserPools for tests: complete objects as the API server returns them.
import {
  type BrowserPool,
  type BrowserPoolSpecInput,
  GROUP,
  KIND,
  specSchema,
  VERSION,
} from '../../crds/browser-pool.ts';

export const POOL_SPEC: BrowserPoolSpecInput = {
  poolSecret: { name: 'pressroom-secrets' },
  template: { image: 'pressroom-worker:test' },
};

interface Given {
  name?: string;
  namespace?: string;
  uid?: string;
  spec?: Partial<BrowserPoolSpecInput>;
  status?: BrowserPool['status'];
}

/** A pool with the defaults of the schema. */
export function browserPool({
  name = 'main',
  namespace = 'press',
  uid = `uid-of-${name}`,
  spec = {},
  status,
}: Given = {}): BrowserPool {
  return {
    apiVersion: `${GROUP}/${VERSION}`,
    kind: KIND,
    metadata: { name, namespace, uid, resourceVersion: '1', generation: 1 },
    spec: specSchema.parse({ ...POOL_SPEC, ...spec }),
    ...(status && { status }),
  };
}

/** The manifest of a pool, without defaults. */
export const poolManifest = (
  name: string,
  namespace: string,
  spec: Partial<BrowserPoolSpecInput> = {},
) => ({
  apiVersion: `${GROUP}/${VERSION}`,
  kind: KIND,
  metadata: { name, namespace },
  spec: { ...POOL_SPEC, ...spec },
});
