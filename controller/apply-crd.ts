// Updates the BrowserPool CRD of a cluster, because Helm creates CRDs but does not update them. A
// hook Job of the chart runs it before an install and an upgrade.
import { browserPoolCrd } from '../crds/crd.ts';
import type { ObjectMeta } from './kubernetes/resources.ts';
import { runOnce } from './kubernetes/run-once.ts';

/** The field manager of Helm 4, which would report a conflict with any other owner of the CRD. */
const FIELD_MANAGER = 'helm';

await runOnce(async ({ transport }) => {
  const { name } = browserPoolCrd.metadata;
  const call = {
    resource: 'customresourcedefinitions',
    path: `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${name}`,
    query: { fieldManager: FIELD_MANAGER },
  };
  const query = { ...call.query, force: true };
  const applied = await transport.call<{ metadata: ObjectMeta }>({
    ...call,
    verb: 'apply',
    query,
    body: browserPoolCrd,
  });
  // Helm 3 and earlier releases wrote the CRD under other entries. They would own unchanged fields
  // forever.
  const { managedFields: all = [], resourceVersion } = applied.metadata;
  const managedFields = all.filter(
    ({ manager, operation, subresource }) =>
      subresource !== undefined || (manager === FIELD_MANAGER && operation === 'Apply'),
  );
  // With the resourceVersion: if another client has changed the CRD since, the patch fails and the
  // Job retries.
  const body = { metadata: { managedFields, resourceVersion } };
  if (managedFields.length < all.length) await transport.call({ ...call, verb: 'patch', body });
  return `CRD ${name} is up to date.`;
});
