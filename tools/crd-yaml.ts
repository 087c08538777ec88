// The CRD as YAML, for `kubectl apply` and for the chart's crds/ folder.
import { stringify } from 'yaml';
import { browserPoolCrd } from '../crds/crd.ts';

export const crdYaml = (): string =>
  `# Generated from crds/browser-pool.ts by \`npm run generate\`.\n${stringify(browserPoolCrd, { lineWidth: 0, aliasDuplicateObjects: false })}`;
