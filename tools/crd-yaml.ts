// The CRD as YAML: for `kubectl apply`, and for Helm, which brings it to a cluster that has none.
import { stringify } from 'yaml';
import { browserPoolCrd } from '../crds/crd.ts';

export const crdYaml = (): string =>
  `# Generated from crds/browser-pool.ts by \`npm run generate\`.\n${stringify(browserPoolCrd, { lineWidth: 0, aliasDuplicateObjects: false })}`;
