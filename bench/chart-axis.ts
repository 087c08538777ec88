// Axes of a chart: where a value lies between 0 and 1, and which values are written beside them.
// Pure.

export interface Axis {
  ticks: number[];
  /** From 0 to 1. */
  at(value: number): number;
}

/** 1, 2 or 5 times a power of ten, at least `value`. */
function roundUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map(times => times * power).find(step => step >= value * (1 - 1e-9))!;
}

/** From 0 to above the largest value, in about five steps. */
export function linearAxis(values: readonly number[]): Axis {
  const most = Math.max(...values, 1) * 1.1;
  const step = roundUp(most / 5);
  const count = Math.ceil(most / step);
  const top = count * step;
  return {
    ticks: Array.from({ length: count + 1 }, (_, n) => Number((n * step).toPrecision(6))),
    at: value => value / top,
  };
}

/** Around the values, in steps of 1, 2 and 5. */
export function logAxis(values: readonly number[]): Axis {
  const positive = values.filter(value => value > 0);
  const [least, most] = [Math.min(...positive, 1_000), Math.max(...positive, 10)];
  const steps = [0, 1, 2, 3, 4, 5, 6].flatMap(power => [1, 2, 5].map(times => times * 10 ** power));
  const from = steps.findLast(step => step <= least) ?? 1;
  const to = steps.find(step => step > most) ?? steps.at(-1)!;
  const [low, high] = [Math.log(from), Math.log(to)];
  return {
    ticks: steps.filter(step => step >= from && step <= to),
    at: value => (Math.log(Math.max(value, from)) - low) / (high - low),
  };
}

/** One place for each value, equally far apart, in the order given. */
export function countAxis(values: readonly number[]): Axis {
  return {
    ticks: [...values],
    at: value => (values.indexOf(value) + 0.5) / Math.max(1, values.length),
  };
}
