// PromQL that more than one board or rule uses: how series are chosen, which outcomes count, and
// the usual sums over them.
import { RENDER_FAILED_REASONS, type RenderFailedReason } from '../../common/contract/errors.ts';

/**
 * Why a render failed by the page's fault. All other reasons are ours, and only those count against
 * the objective.
 */
const OF_THE_PAGE: ReadonlySet<RenderFailedReason> = new Set([
  'page_status',
  'page_unreachable',
  'page_timeout',
  'page_crash',
  'output_limit',
]);

/** Outcomes, as alternatives of a regular expression. */
export const OURS = RENDER_FAILED_REASONS.filter(reason => !OF_THE_PAGE.has(reason)).join('|');
export const PAGES = [...OF_THE_PAGE].join('|');
/** What was promised to be rendered: not what was refused before, nor what its caller gave up. */
export const PROMISED = ['ok', ...RENDER_FAILED_REASONS].join('|');

/** What a board shows: Grafana puts in what was chosen there. */
export const CHOSEN = 'namespace=~"$namespace",pool=~"$pool"';
/** Of the controller's own process, which serves many pools. */
export const CHOSEN_NAMESPACE = 'namespace=~"$namespace"';
/** Grafana's word for a window that is never too short for the scrapes. */
export const WINDOW = '$__rate_interval';

type By = string;
const by = (labels: By) => (labels === '' ? '' : ` by (${labels})`);

export const sum = (labels: By, expr: string) => `sum${by(labels)} (${expr})`;
export const max = (labels: By, expr: string) => `max${by(labels)} (${expr})`;
export const rate = (series: string, window = WINDOW) => `rate(${series}[${window}])`;
export const increase = (series: string, window = WINDOW) => `increase(${series}[${window}])`;

/** Of a histogram named without its ending; `labels` are kept besides `le`. */
export const quantile = (
  q: number,
  histogram: string,
  where: string,
  labels: By = '',
  window = WINDOW,
) =>
  `histogram_quantile(${q}, ${sum(labels === '' ? 'le' : `${labels}, le`, rate(`${histogram}_bucket{${where}}`, window))})`;

export const quantiles = (histogram: string, where: string) =>
  [0.5, 0.95, 0.99].map(q => ({ expr: quantile(q, histogram, where), legend: `p${q * 100}` }));
