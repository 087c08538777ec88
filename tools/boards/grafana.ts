// Builds a Grafana dashboard (classic JSON model, schema version 42) from rows of panels, without a
// fixed data source.

/** https://grafana.com/docs/grafana/latest/panels-visualizations/configure-standard-options/ */
export type Unit =
  | 'short'
  | 's'
  | 'bytes'
  | 'percentunit'
  | 'reqps'
  | 'ops'
  | 'none'
  | 'dateTimeFromNow'
  | 'cores'
  | 'x';

export interface Query {
  expr: string;
  /** A Grafana template: `{{pod}}` is the value of the label. */
  legend: string;
}

export interface GrafanaPanel {
  title: string;
  /** What the panel shows, what is healthy, and the next step if it is not. */
  description: string;
  /**
   * `line` and `stack` over time, `bars` for events, `stat` for the current value, `table` for one
   * row per series.
   */
  kind: 'line' | 'stack' | 'bars' | 'stat' | 'table';
  unit: Unit;
  queries: Query[];
  /** Threshold: drawn as a line; values above are red. */
  limit?: number;
  /** Width in columns; a row has 24. */
  width?: number;
}

export interface Row {
  title: string;
  panels: GrafanaPanel[];
}

export interface Board {
  uid: string;
  title: string;
  description: string;
  rows: Row[];
}

/** Filters of a dashboard, in addition to the data source. */
export const VARIABLES = [
  { name: 'namespace', label: 'Namespace', metric: 'pressroom_build_info' },
  { name: 'pool', label: 'Pool', metric: 'pressroom_build_info{namespace=~"$namespace",pool!=""}' },
] as const;

const DATASOURCE = { type: 'prometheus', uid: '$datasource' };
const HEIGHT = { row: 1, stat: 4, other: 8 };
const WIDTH = 8;
const COLUMNS = 24;

const TYPES = {
  line: 'timeseries',
  stack: 'timeseries',
  bars: 'timeseries',
  stat: 'stat',
  table: 'table',
} as const;
/** Units that Grafana does not know, as suffixes. */
const UNITS: Partial<Record<Unit, string>> = { cores: 'suffix:cores', x: 'suffix:×' };

const isNow = (kind: GrafanaPanel['kind']) => kind === 'stat' || kind === 'table';

/** Drawing options of the series of a panel. */
function fieldConfig({ kind, unit, limit }: GrafanaPanel) {
  const steps = [
    { color: 'green', value: null as number | null },
    ...(limit === undefined ? [] : [{ color: 'red', value: limit }]),
  ];
  const drawn = {
    drawStyle: kind === 'bars' ? 'bars' : 'line',
    fillOpacity: { line: 0, stack: 30, bars: 60 }[kind as 'line' | 'stack' | 'bars'],
    lineWidth: 1,
    showPoints: 'never',
    stacking: { mode: kind === 'line' ? 'none' : 'normal', group: 'A' },
    thresholdsStyle: { mode: limit === undefined ? 'off' : 'dashed' },
    axisSoftMin: 0,
  };
  return {
    defaults: {
      unit: UNITS[unit] ?? unit,
      color: { mode: kind === 'stat' ? 'thresholds' : 'palette-classic' },
      thresholds: { mode: 'absolute', steps },
      ...(isNow(kind) ? {} : { min: 0, custom: drawn }),
    },
    overrides: [],
  };
}

const OPTIONS = {
  over: {
    legend: { displayMode: 'list', placement: 'bottom', showLegend: true },
    tooltip: { mode: 'multi', sort: 'desc' },
  },
  stat: {
    reduceOptions: { calcs: ['lastNotNull'], fields: '', values: false },
    colorMode: 'value',
    graphMode: 'area',
    textMode: 'auto',
  },
  table: { showHeader: true, cellHeight: 'sm', sortBy: [{ displayName: 'Value', desc: true }] },
};

const options = (kind: GrafanaPanel['kind']) =>
  kind === 'stat' ? OPTIONS.stat : kind === 'table' ? OPTIONS.table : OPTIONS.over;

const target = ({ kind }: GrafanaPanel, { expr, legend }: Query, index: number) => ({
  datasource: DATASOURCE,
  refId: String.fromCharCode('A'.charCodeAt(0) + index),
  editorMode: 'code',
  expr,
  legendFormat: legend,
  ...(kind === 'table'
    ? { format: 'table', instant: true, range: false }
    : { instant: false, range: true }),
});

/** Places panels from left to right and wraps full lines. Ids are ascending. */
function place(rows: Row[]) {
  const placed: object[] = [];
  let y = 0;
  for (const { title, panels } of rows) {
    placed.push({
      id: placed.length + 1,
      type: 'row',
      title,
      collapsed: false,
      panels: [],
      gridPos: { x: 0, y, w: COLUMNS, h: HEIGHT.row },
    });
    y += HEIGHT.row;
    let x = 0;
    let lineHeight = 0;
    for (const panel of panels) {
      const { title, description, kind, queries, width: w = WIDTH } = panel;
      const h = kind === 'stat' ? HEIGHT.stat : HEIGHT.other;
      if (x + w > COLUMNS) {
        y += lineHeight;
        x = 0;
        lineHeight = 0;
      }
      placed.push({
        id: placed.length + 1,
        type: TYPES[kind],
        title,
        description,
        datasource: DATASOURCE,
        gridPos: { x, y, w, h },
        fieldConfig: fieldConfig(panel),
        options: options(kind),
        ...(kind === 'table'
          ? {
              transformations: [
                {
                  id: 'organize',
                  options: { excludeByName: { Time: true }, indexByName: {}, renameByName: {} },
                },
              ],
            }
          : {}),
        targets: queries.map((query, index) => target(panel, query, index)),
      });
      x += w;
      lineHeight = Math.max(lineHeight, h);
    }
    y += lineHeight;
  }
  return placed;
}

const variables = [
  {
    name: 'datasource',
    label: 'Data source',
    type: 'datasource',
    query: 'prometheus',
    hide: 0,
    regex: '',
    refresh: 1,
    multi: false,
    includeAll: false,
  },
  ...VARIABLES.map(({ name, label, metric }) => ({
    name,
    label,
    type: 'query',
    datasource: DATASOURCE,
    query: {
      qryType: 1,
      query: `label_values(${metric},${name})`,
      refId: 'PrometheusVariableQueryEditor-VariableQuery',
    },
    definition: `label_values(${metric},${name})`,
    hide: 0,
    refresh: 2,
    sort: 1,
    multi: true,
    includeAll: true,
    allValue: '.+',
    current: { text: ['All'], value: ['$__all'] },
  })),
];

/** The dashboard as a JSON file for Grafana. */
export const boardJson = ({ uid, title, description, rows }: Board): string =>
  `${JSON.stringify(
    {
      uid,
      title,
      description,
      tags: ['pressroom'],
      schemaVersion: 42,
      version: 1,
      editable: true,
      graphTooltip: 1,
      timezone: 'browser',
      refresh: '30s',
      time: { from: 'now-3h', to: 'now' },
      timepicker: {},
      annotations: { list: [] },
      links: [
        {
          type: 'dashboards',
          title: 'Pressroom',
          tags: ['pressroom'],
          asDropdown: false,
          icon: 'external link',
          includeVars: true,
          keepTime: true,
          targetBlank: false,
          tooltip: '',
          url: '',
        },
      ],
      templating: { list: variables },
      panels: place(rows),
    },
    null,
    2,
  )}\n`;
