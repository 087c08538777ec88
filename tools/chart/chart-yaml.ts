// Generates the chart's Chart.yaml, with the annotations that Artifact Hub reads.
import { readFile } from 'node:fs/promises';
import { stringify } from 'yaml';
import { GROUP, KIND, PLURAL, VERSION } from '../../crds/browser-pool.ts';
import { browserPoolCrd } from '../../crds/crd.ts';
import { chartValues } from './values.ts';

const ROOT = new URL('../../', import.meta.url);

/** The fields of package.json that are read. The URLs are missing until the project has some. */
interface Manifest {
  version: string;
  license: string;
  homepage?: string;
  repository?: { url: string };
  bugs?: { url: string };
}

/** What is new in a version of the chart, for its users. */
const CHANGES = {
  version: '0.1.0',
  entries: [{ kind: 'added', description: 'The first release.' }],
};

/** The images of the chart with its default values, by component. */
export function defaultImages(version: string): { name: string; image: string }[] {
  const { image, mongodb } = chartValues.parse({});
  const { api, worker, controller } = image;
  return Object.entries({ api, worker, controller, mongodb: mongodb.bundled.image }).map(
    ([name, { repository, tag, digest }]) => {
      const path = image.registry === '' ? repository : `${image.registry}/${repository}`;
      return {
        name,
        image: digest === '' ? `${path}:${tag || image.tag || version}` : `${path}@${digest}`,
      };
    },
  );
}

/** A BrowserPool that the CRD accepts, as an example. */
export const poolExample = (version: string) => ({
  apiVersion: `${GROUP}/${VERSION}`,
  kind: KIND,
  metadata: { name: 'reports' },
  spec: {
    slotsPerPod: 2,
    poolSecret: { name: 'pressroom-secrets' },
    scaling: { minReplicas: 1, maxReplicas: 10, targetUtilizationPercent: 70 },
    template: { image: defaultImages(version).find(({ name }) => name === 'worker')!.image },
  },
});

const yaml = (value: unknown) => stringify(value, { lineWidth: 0 });

function artifactHub({ version, license, homepage, repository, bugs }: Manifest) {
  if (CHANGES.version !== version)
    throw new Error(
      `tools/chart/chart-yaml.ts has the changes of ${CHANGES.version}. Write those of ${version}.`,
    );
  const links = Object.entries({
    Documentation: homepage,
    Source: repository?.url,
    Support: bugs?.url,
  }).flatMap(([name, url]) => (url === undefined ? [] : [{ name, url }]));
  const [{ schema }] = browserPoolCrd.spec.versions as [(typeof browserPoolCrd.spec.versions)[0]];
  return {
    'artifacthub.io/license': license,
    'artifacthub.io/operator': 'true',
    'artifacthub.io/changes': yaml(CHANGES.entries),
    'artifacthub.io/images': yaml(defaultImages(version)),
    'artifacthub.io/crds': yaml([
      {
        kind: KIND,
        version: VERSION,
        name: `${PLURAL}.${GROUP}`,
        displayName: 'Browser pool',
        description: schema.openAPIV3Schema.description,
      },
    ]),
    'artifacthub.io/crdsExamples': yaml([poolExample(version)]),
    ...(links.length > 0 && { 'artifacthub.io/links': yaml(links) }),
  };
}

/** The fields of Chart.yaml. `icon` is an SVG document. */
export const chartMetadata = (manifest: Manifest, icon: string) => ({
  apiVersion: 'v2',
  name: 'pressroom',
  description:
    'Self-hosted HTML-to-PDF service with an API, an autoscaled pool of headless Chrome workers and the controller that manages it.',
  type: 'application',
  version: manifest.version,
  appVersion: manifest.version,
  kubeVersion: '>=1.29.0-0',
  keywords: ['pdf', 'html', 'chrome', 'rendering', 'headless', 'html-to-pdf'],
  ...(manifest.homepage !== undefined && { home: manifest.homepage }),
  ...(manifest.repository !== undefined && { sources: [manifest.repository.url] }),
  // The icon is part of the file, so that it needs no server.
  icon: `data:image/svg+xml;base64,${Buffer.from(icon).toString('base64')}`,
  maintainers: [{ name: 'The Pressroom authors' }],
  annotations: artifactHub(manifest),
});

export async function chartYaml(): Promise<string> {
  const read = (file: string) => readFile(new URL(file, ROOT), 'utf8');
  const manifest = JSON.parse(await read('package.json')) as Manifest;
  const icon = (await read('dashboard/parts/icon.svg')).trim();
  return `# Generated from tools/chart/chart-yaml.ts by \`npm run generate\`; do not edit.\n${yaml(chartMetadata(manifest, icon))}`;
}
