// The generated files of the chart.
import { chartReadme } from './chart-readme.ts';
import { valuesSchema } from './values-schema.ts';
import { valuesYaml } from './values-yaml.ts';

export const chartFiles = [
  { file: 'charts/pressroom/values.yaml', text: valuesYaml },
  { file: 'charts/pressroom/values.schema.json', text: valuesSchema },
  { file: 'charts/pressroom/README.md', text: chartReadme },
];
