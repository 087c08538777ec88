// Checks metric names against the Prometheus rules (https://prometheus.io/docs/practices/naming/)
// and our own.
import type { MetricDescription } from '../../common/operations.ts';

/**
 * The allowed labels. Each has few values; values that callers or pages choose (accounts, keys,
 * paths, hosts) are never labels.
 */
const LABELS = new Set(
  'pool slot state reason outcome phase operation route version protocol namespace type status verb resource via'.split(
    ' ',
  ),
);

/** Units other than the base units seconds, bytes and ratio, in their usual spellings. */
const OTHER_UNITS =
  /_(ms|milliseconds?|us|microseconds?|ns|nanoseconds?|minutes?|hours?|days?|kb|kib|kilobytes?|mb|mib|megabytes?|gb|gib|bits?|percent|pct)(_|$)/;
const BASE_UNIT = /_(seconds|bytes)$/;

/** Contradictions between the name and the type of a metric. */
function kindProblems({ name, type }: MetricDescription): string[] {
  const problems: string[] = [];
  if (type === 'counter' && !name.endsWith('_total'))
    problems.push('the name of a counter must end in `_total`');
  if (type !== 'counter' && /_total(_|$)/.test(name))
    problems.push('only the name of a counter may end in `_total`');
  if (type === 'histogram' && !BASE_UNIT.test(name))
    problems.push('the name of a histogram must end in `_seconds` or `_bytes`');
  if (/_(count|sum|bucket|created)$/.test(name))
    problems.push('the suffix is reserved for histograms');
  if (/_(counter|gauge|histogram)(_|$)/.test(name))
    problems.push('the name must not contain the type');
  return problems;
}

function labelProblems({ labels, name }: MetricDescription): string[] {
  const problems = labels
    .filter(label => !LABELS.has(label))
    .map(label => `the label \`${label}\` is not allowed`);
  if (new Set(labels).size < labels.length) problems.push('a label is repeated');
  // The controller and the Grafana boards sum these metrics by pool.
  if (/^pressroom_(queue|slots?)_|^pressroom_slots$/.test(name) && !labels.includes('pool'))
    problems.push('metrics of the queue and of slots must have the label `pool`');
  return problems;
}

/** The violations of a metric as sentences. Empty when there are none. */
export function metricProblems(metric: MetricDescription): string[] {
  const { name, help } = metric;
  const problems = [...kindProblems(metric), ...labelProblems(metric)];
  if (!/^pressroom(_[a-z][a-z0-9]*)+$/.test(name))
    problems.push('the name must be `pressroom_` and lower-case words');
  if (OTHER_UNITS.test(name))
    problems.push('the unit must be a base unit: seconds, bytes or ratio');
  if (!/^[A-Z].*[^.]\.$/s.test(help))
    problems.push('the help must start with a capital letter and end with a full stop');
  return problems;
}
