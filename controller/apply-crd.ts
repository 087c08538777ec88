// Brings the BrowserPool CRD of a cluster up to date: Helm 3 installs what is in a chart's `crds`
// once and never changes it. Run by a hook of the chart, before an installation and an upgrade.
import { browserPoolCrd } from '../crds/crd.ts';
import type { ObjectMeta } from './kubernetes/resources.ts';
import { runOnce } from './kubernetes/run-once.ts';

/**
 * Helm's own: Helm 4 applies the CRD at each installation and refuses fields that another manager
 * owns.
 */
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
  // Helm 3 and earlier releases wrote it under other entries, which would own unchanged fields for
  // ever.
  const { managedFields: all = [], resourceVersion } = applied.metadata;
  const managedFields = all.filter(
    ({ manager, operation, subresource }) =>
      subresource !== undefined || (manager === FIELD_MANAGER && operation === 'Apply'),
  );
  // With the version read: an entry of another writer in between must not get lost. The Job tries
  // again then.
  const body = { metadata: { managedFields, resourceVersion } };
  if (managedFields.length < all.length) await transport.call({ ...call, verb: 'patch', body });
  return `The CRD ${name} is up to date.`;
});
