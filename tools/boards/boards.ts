// The generated files of the chart for dashboards and rules.
import { capacity } from './capacity.ts';
import { controller } from './controller.ts';
import { type Board, boardJson } from './grafana.ts';
import { rulesYaml } from './rules-yaml.ts';
import { service } from './service.ts';

const CHART = 'charts/pressroom';

/** By file name. */
export const boards: Record<string, Board> = { service, capacity, controller };

/** For the list of generated files; paths are relative to the root of the repository. */
export const boardFiles = [
  ...Object.entries(boards).map(([name, board]) => ({
    file: `${CHART}/dashboards/${name}.json`,
    text: () => boardJson(board),
  })),
  { file: `${CHART}/rules/pressroom.yaml`, text: rulesYaml },
];
