// docs/configuration.md and docs/metrics.md, made from the variables and the metrics of the
// processes.
import type { z } from 'zod';
import { apiVariables } from '../api/config.ts';
import { poolVariables, processVariables, variableMeta } from '../common/config.ts';
import { controllerVariables } from '../controller/config.ts';
import { workerVariables } from '../worker/config.ts';
import { allMetrics } from './all-metrics.ts';

const shared = new Set(Object.keys({ ...poolVariables.shape, ...processVariables.shape }));

const rows = (schema: z.ZodObject, leaveOut: ReadonlySet<string>) =>
  Object.entries(schema.shape)
    .filter(([name]) => !leaveOut.has(name))
    .map(([name, type]) => {
      const { description, fallback, accepts } = variableMeta(type as z.ZodType)!;
      // The cores of the machine that generates would make this file differ from machine to
      // machine.
      const shown =
        fallback === undefined || fallback === '' || name === 'PRESSROOM_SLOTS'
          ? ''
          : `\`${fallback}\``;
      const accepted = accepts.replaceAll('NAME', name).replaceAll('|', '\\|');
      return `| \`${name}\` | ${shown} | ${description} | ${accepted} |`;
    });

const section = (title: string, schema: z.ZodObject, leaveOut: ReadonlySet<string> = new Set()) =>
  [
    `## ${title}`,
    '',
    '| variable | default | description | accepted values |',
    '| --- | --- | --- | --- |',
    ...rows(schema, leaveOut),
    '',
  ].join('\n');

export const configurationDocument = (): string =>
  [
    `# Configuration

Pressroom is configured with environment variables. A process that finds invalid values lists all of them and
exits. A secret can also be read from a file: set \`NAME_FILE\` to its path instead of \`NAME\`.

\`npm start\` reads the variables of every process. Some of its defaults differ: the operations port and the gateway
listen on loopback only, there is no drain delay, and the log level is \`warn\`. \`PRESSROOM_DATA_DIR\` holds accounts
and secrets (default \`/var/lib/pressroom\` for root, else \`~/.local/share/pressroom\`). \`PRESSROOM_CACHE_DIR\` holds
downloads (default \`/var/cache/pressroom\` for root, else \`~/.cache/pressroom\`). When started as root, mongod runs as
user 64118, which owns \`mongod/db\` in the data folder and must be able to execute the mongod binary.

<!-- Made by \`npm run generate\` from the schemas of the processes: do not edit. -->
`,
    section('Every process', processVariables),
    section('API and workers', poolVariables),
    section('API', apiVariables, shared),
    section('Worker', workerVariables, shared),
    section('Controller', controllerVariables, shared),
  ]
    .join('\n')
    .trimEnd()
    .concat('\n');

export const metricsDocument = (): string => {
  const lines = allMetrics().map(({ name, of, type, labels, help }) => {
    const names = labels.map(label => `\`${label}\``).join(', ');
    return `| \`${name}\` | ${of} | ${type} | ${names} | ${help} |`;
  });
  return `# Metrics

Each process serves these metrics at \`/metrics\` on its operations port (9090), beside the usual metrics of a Node
process (\`process_…\`, \`nodejs_…\`). No label holds a value that a caller or a page can choose. Every series of the API
and of workers also has the label \`pool\`: the pool that the process serves.

<!-- Made by \`npm run generate\` from the metrics of the processes: do not edit. -->

| metric | process | type | labels | description |
| --- | --- | --- | --- | --- |
${lines.join('\n')}
`;
};
