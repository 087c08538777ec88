// Brings the BrowserPool CRD of a cluster up to date: Helm installs what is in a chart's `crds` once and never changes it. Run by a hook of the chart, before an upgrade.
import { browserPoolCrd } from '../crds/crd.ts';
import { runOnce } from './kubernetes/run-once.ts';

await runOnce(async ({ transport }) => {
  const { name } = browserPoolCrd.metadata;
  await transport.call({
    verb: 'apply',
    resource: 'customresourcedefinitions',
    path: `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${name}`,
    query: { fieldManager: 'pressroom-chart', force: true },
    body: browserPoolCrd,
  });
  return `The CRD ${name} is up to date.`;
});
