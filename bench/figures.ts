// Figures that were measured against those that are wanted, and the arithmetic on series of them.
// Pure.
import { median } from './load.ts';

export interface Figure {
  what: string;
  value: number;
  unit: string;
  atMost?: number;
  atLeast?: number;
}

/** A value that is no number was not measured, and is not met. */
export const isMet = ({
  value,
  atMost = Number.POSITIVE_INFINITY,
  atLeast = Number.NEGATIVE_INFINITY,
}: Figure): boolean => value <= atMost && value >= atLeast;

/** Three digits are more than a shared machine is good for. */
export const digits = (value: number): string =>
  value.toFixed(Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2);

/** One line a figure: what it is, what is wanted, and whether that is met. */
export function verdict(figures: readonly Figure[]): string[] {
  return figures.map(figure => {
    const { what, value, unit, atMost, atLeast } = figure;
    const wanted = atMost !== undefined ? `at most ${atMost}` : `at least ${atLeast}`;
    return `${isMet(figure) ? 'met:   ' : 'MISSED:'} ${what}: ${digits(value)} ${unit}, wanted ${wanted}`;
  });
}

/** The middle of the values and how far they lie apart. */
export const spread = (values: readonly number[]): string =>
  `${digits(median(values))} (${digits(Math.min(...values))} to ${digits(Math.max(...values))})`;

/**
 * By how much `y` grows with each 1,000 of `x`: the straight line of least squares. NaN for fewer
 * than two different `x`.
 */
export function slopePerThousand(points: readonly { x: number; y: number }[]): number {
  const mean = (of: 'x' | 'y') => points.reduce((sum, point) => sum + point[of], 0) / points.length;
  const [x, y] = [mean('x'), mean('y')];
  const above = points.reduce((sum, point) => sum + (point.x - x) * (point.y - y), 0);
  const below = points.reduce((sum, point) => sum + (point.x - x) ** 2, 0);
  return below === 0 ? Number.NaN : (1_000 * above) / below;
}
