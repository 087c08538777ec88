// Compares measured figures with targets, and calculates statistics. Pure.
import { median } from './load.ts';

export interface Figure {
  what: string;
  value: number;
  unit: string;
  atMost?: number;
  atLeast?: number;
}

/** NaN means not measured, which does not meet a target. */
export const isMet = ({
  value,
  atMost = Number.POSITIVE_INFINITY,
  atLeast = Number.NEGATIVE_INFINITY,
}: Figure): boolean => value <= atMost && value >= atLeast;

/** Formats with three digits; a shared machine is not more precise. */
export const digits = (value: number): string =>
  value.toFixed(Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2);

/** One line per figure: its value, its target and whether it is met. */
export function verdict(figures: readonly Figure[]): string[] {
  return figures.map(figure => {
    const { what, value, unit, atMost, atLeast } = figure;
    const target = atMost !== undefined ? `at most ${atMost}` : `at least ${atLeast}`;
    return `${isMet(figure) ? 'met:   ' : 'MISSED:'} ${what}: ${digits(value)} ${unit}, target ${target}`;
  });
}

/** The median, minimum and maximum. */
export const spread = (values: readonly number[]): string =>
  `${digits(median(values))} (${digits(Math.min(...values))} to ${digits(Math.max(...values))})`;

/** The slope of the least-squares line per 1,000 of `x`. NaN for fewer than two different `x`. */
export function slopePerThousand(points: readonly { x: number; y: number }[]): number {
  const mean = (of: 'x' | 'y') => points.reduce((sum, point) => sum + point[of], 0) / points.length;
  const [x, y] = [mean('x'), mean('y')];
  const above = points.reduce((sum, point) => sum + (point.x - x) * (point.y - y), 0);
  const below = points.reduce((sum, point) => sum + (point.x - x) ** 2, 0);
  return below === 0 ? Number.NaN : (1_000 * above) / below;
}
