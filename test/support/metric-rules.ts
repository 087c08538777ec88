// The field's rules for the names of metrics (https://prometheus.io/docs/practices/naming/) and the
// product's own, as a pure function.
import type { MetricDescription } from '../../common/operations.ts';

/**
 * What a series may be told apart by. All have few values; what callers or pages can make up
 * (accounts, keys, paths, hosts) is never one.
 */
const LABELS = new Set(
  'pool slot state reason outcome phase operation route version protocol namespace type status verb resource via'.split(
    ' ',
  ),
);

/**
 * Units that are not the base ones (seconds, bytes, ratio), in the ways in which they are usually
 * written.
 */
const OTHER_UNITS =
  /_(ms|milliseconds?|us|microseconds?|ns|nanoseconds?|minutes?|hours?|days?|kb|kib|kilobytes?|mb|mib|megabytes?|gb|gib|bits?|percent|pct)(_|$)/;
const BASE_UNIT = /_(seconds|bytes)$/;

/** What the name of a metric says that is not of this kind. */
function kindProblems({ name, type }: MetricDescription): string[] {
  const problems: string[] = [];
  if (type === 'counter' && !name.endsWith('_total')) problems.push('a counter ends in `_total`');
  if (type !== 'counter' && /_total(_|$)/.test(name)) problems.push('only a counter is a total');
  if (type === 'histogram' && !BASE_UNIT.test(name))
    problems.push('a histogram ends in its unit, `_seconds` or `_bytes`');
  if (/_(count|sum|bucket|created)$/.test(name))
    problems.push('that ending is made for histograms by the format');
  if (/_(counter|gauge|histogram)(_|$)/.test(name)) problems.push('the name says the type');
  return problems;
}

function labelProblems({ labels, name }: MetricDescription): string[] {
  const problems = labels
    .filter(label => !LABELS.has(label))
    .map(label => `the label \`${label}\` is not in the list`);
  if (new Set(labels).size < labels.length) problems.push('a label stands there twice');
  // The autoscaler and the dashboards add them up by pool.
  if (/^pressroom_(queue|slots?)_|^pressroom_slots$/.test(name) && !labels.includes('pool'))
    problems.push('what tells of the queue or of slots carries `pool`');
  return problems;
}

/** What is wrong with a metric, in words; empty when nothing is. */
export function metricProblems(metric: MetricDescription): string[] {
  const { name, help } = metric;
  const problems = [...kindProblems(metric), ...labelProblems(metric)];
  if (!/^pressroom(_[a-z][a-z0-9]*)+$/.test(name))
    problems.push('a name is `pressroom_` and words in lower case');
  if (OTHER_UNITS.test(name)) problems.push('a unit is a base unit: seconds, bytes or a ratio');
  if (!/^[A-Z].*[^.]\.$/s.test(help))
    problems.push('the help is a sentence: it begins with a capital and ends with a full stop');
  return problems;
}
