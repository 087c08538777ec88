// Reads what a process says on /metrics
// (https://prometheus.io/docs/instrumenting/exposition_formats/), as Prometheus would.

export interface Samples {
  /**
   * The sum over all series of that name whose labels have all of these values; 0 when there is
   * none.
   */
  sum(name: string, labels?: Record<string, string>): number;
  /** Each value of a label, with the sum over its series that have all of these other values. */
  by(name: string, label: string, labels?: Record<string, string>): Record<string, number>;
  names(): string[];
}

const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/;
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g;

/** Throws on a line that is none of the format. */
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
