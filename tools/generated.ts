// The list of generated files. Each is built by a function from the sources and committed; `npm run
// check` fails if one is out of date.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stringify } from 'yaml';
import { browserPoolCrd } from '../crds/crd.ts';
import { boardFiles } from './boards/boards.ts';
import { chartReadme } from './chart/chart-readme.ts';
import { chartYaml } from './chart/chart-yaml.ts';
import { valueRules } from './chart/value-rules.ts';
import { valuesSchema } from './chart/values-schema.ts';
import { valuesYaml } from './chart/values-yaml.ts';
import { errorsGuide } from './errors-guide.ts';
import { limitsDocument } from './limits.ts';
import { configurationDocument, metricsDocument } from './reference.ts';
import { testingDocument } from './testing.ts';

const ROOT = new URL('../', import.meta.url);

interface Generated {
  /** Relative to the root of the repository. */
  file: string;
  text(): string | Promise<string>;
}

/** The CRD as YAML, for `kubectl apply` and for the chart's crds/ folder. */
const crdYaml = () =>
  `# Generated from crds/browser-pool.ts by \`npm run generate\`.\n${stringify(browserPoolCrd, { lineWidth: 0, aliasDuplicateObjects: false })}`;

/** Add a line for every file that is generated from others. */
export const generated: Generated[] = [
  { file: 'docs/configuration.md', text: configurationDocument },
  { file: 'docs/metrics.md', text: metricsDocument },
  { file: 'docs/limits.md', text: limitsDocument },
  { file: 'docs/testing.md', text: testingDocument },
  { file: 'docs/guides/errors.md', text: errorsGuide },
  { file: 'crds/browserpools.pressroom.dev.yaml', text: crdYaml },
  { file: 'charts/pressroom/crds/browserpools.pressroom.dev.yaml', text: crdYaml },
  { file: 'charts/pressroom/Chart.yaml', text: chartYaml },
  { file: 'charts/pressroom/values.yaml', text: valuesYaml },
  { file: 'charts/pressroom/values.schema.json', text: valuesSchema },
  { file: 'charts/pressroom/files/value-rules.json', text: valueRules },
  { file: 'charts/pressroom/README.md', text: chartReadme },
  ...boardFiles,
];

const path = (file: string) => fileURLToPath(new URL(file, ROOT));

/** The files that are missing or differ from the result of their function. */
export async function staleFiles(list = generated): Promise<string[]> {
  const current = await Promise.all(
    list.map(
      async ({ file, text }) =>
        (await readFile(path(file), 'utf8').catch(() => undefined)) === (await text()),
    ),
  );
  return list.filter((_, index) => !current[index]).map(({ file }) => file);
}

/** Writes all generated files. */
export async function generate(list = generated): Promise<void> {
  for (const { file, text } of list) {
    await mkdir(dirname(path(file)), { recursive: true });
    await writeFile(path(file), await text());
  }
}
