// Parses the /metrics of a process as Prometheus does
// (https://prometheus.io/docs/instrumenting/exposition_formats/).

export interface Samples {
  /** The sum of all series with that name and these label values; 0 without a series. */
  sum(name: string, labels?: Record<string, string>): number;
  /** The sum of the series with these label values, for each value of `label`. */
  by(name: string, label: string, labels?: Record<string, string>): Record<string, number>;
  names(): string[];
}

const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/;
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g;

/** Throws for an invalid line. */
export function readSamples(text: string): Samples {
  const series = text
    .split('\n')
    .filter(line => line !== '' && !line.startsWith('#'))
    .map(line => {
      const match = LINE.exec(line);
      if (!match) throw new Error(`no sample of Prometheus: ${line}`);
      const labels = Object.fromEntries(
        [...(match[2] ?? '').matchAll(LABEL)].map(([, name, value]) => [name, value]),
      );
      return { name: match[1]!, labels, value: Number(match[3]) };
    });
  const of = (name: string, labels: Record<string, string> = {}) =>
    series.filter(
      each =>
        each.name === name &&
        Object.entries(labels).every(([key, value]) => each.labels[key] === value),
    );
  return {
    sum: (name, labels) => of(name, labels).reduce((total, { value }) => total + value, 0),
    by: (name, label, filter) => {
      const sums: Record<string, number> = {};
      for (const { labels, value } of of(name, filter))
        sums[labels[label] ?? ''] = (sums[labels[label] ?? ''] ?? 0) + value;
      return sums;
    },
    names: () => [...new Set(series.map(({ name }) => name))],
  };
}
