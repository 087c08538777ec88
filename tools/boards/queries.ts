// PromQL shared by dashboards and rules: selectors, groups of outcomes and common aggregations.
import { RENDER_FAILED_REASONS, type RenderFailedReason } from '../../common/contract/errors.ts';
import type { Query } from './grafana.ts';

/**
 * Failure reasons that the page causes. All others are service errors, and only these count against
 * the objective.
 */
const OF_THE_PAGE: ReadonlySet<RenderFailedReason> = new Set([
  'page_status',
  'page_unreachable',
  'page_timeout',
  'page_crash',
  'output_limit',
]);

/** Outcomes as alternatives of a regular expression. */
export const OURS = RENDER_FAILED_REASONS.filter(reason => !OF_THE_PAGE.has(reason)).join('|');
export const PAGES = [...OF_THE_PAGE].join('|');
/** Outcomes that count for the objective: without rejected and canceled requests. */
export const PROMISED = ['ok', ...RENDER_FAILED_REASONS].join('|');

/** Selector of a dashboard with Grafana's variables. */
export const CHOSEN = 'namespace=~"$namespace",pool=~"$pool"';
/** Selector for the controller's own process, which serves many pools. */
export const CHOSEN_NAMESPACE = 'namespace=~"$namespace"';
export const chosen = (name: string, more = '') => `${name}{${CHOSEN}${more && `,${more}`}}`;
/** Grafana's variable for a window that always contains enough scrapes. */
export const WINDOW = '$__rate_interval';

type By = string;
const by = (labels: By) => (labels === '' ? '' : ` by (${labels})`);

export const sum = (labels: By, expr: string) => `sum${by(labels)} (${expr})`;
export const max = (labels: By, expr: string) => `max${by(labels)} (${expr})`;

/** Such as `{{namespace}}/{{pool}}`. */
const legendOf = (labels: By) =>
  labels
    .split(', ')
    .map(label => `{{${label}}}`)
    .join('/');
/** A series for each value of the labels, which is its legend. */
export const sumBy = (labels: By, expr: string): Query => ({
  expr: sum(labels, expr),
  legend: legendOf(labels),
});
export const maxBy = (labels: By, expr: string): Query => ({
  expr: max(labels, expr),
  legend: legendOf(labels),
});

export const rate = (series: string) => `rate(${series}[${WINDOW}])`;
export const increase = (series: string, window = WINDOW) => `increase(${series}[${window}])`;

/** Quantile of a histogram, named without `_bucket`; keeps `labels`. */
const quantile = (q: number, histogram: string, where: string, labels: By = '') =>
  `histogram_quantile(${q}, ${sum(labels === '' ? 'le' : `${labels}, le`, rate(`${histogram}_bucket{${where}}`))})`;

export const quantiles = (histogram: string, where: string, of = [0.5, 0.95, 0.99]): Query[] =>
  of.map(q => ({ expr: quantile(q, histogram, where), legend: `p${q * 100}` }));
export const p95By = (labels: By, histogram: string, where: string): Query => ({
  expr: quantile(0.95, histogram, where, labels),
  legend: legendOf(labels),
});
