// Draws a chart by day with uPlot: stacked bars or lines. Independent of React.
import 'uplot/dist/uPlot.min.css';
import uPlot from 'uplot';

export interface ChartSeries {
  label: string;
  color: { light: string; dark: string };
  /** One value per day; null draws a gap. */
  values: (number | null)[];
}

export interface Drawing {
  /** `2026-11-22`, every day of the range. */
  days: string[];
  /** Bars are stacked in this order, the first at the bottom. */
  series: ChartSeries[];
  kind: 'bars' | 'lines';
  format(value: number): string;
}

export const HEIGHT_PX = 240;
const INK = {
  light: { text: '#5c636a', grid: '#e9ecef' },
  dark: { text: '#a6abb1', grid: '#3a3a3a' },
};
const FONT = '12px system-ui, sans-serif';
const DAY_S = 86_400;
/** Axis steps for counts: whole numbers only. */
const WHOLE_STEPS = Array.from({ length: 9 }, (_, power) =>
  [1, 2, 5].map(step => step * 10 ** power),
).flat();

/** Cumulative sums of the series. Drawn from the last to the first they form stacked bars. */
function stacked(series: ChartSeries[]): number[][] {
  let below: number[] = [];
  return series.map(({ values }) => {
    below = values.map((value, index) => (below[index] ?? 0) + (value ?? 0));
    return below;
  });
}

/**
 * Draws into `target` and follows its width. Calls `onDay` with the index of the hovered day or
 * null. Returns a function that removes the chart.
 */
export function draw(
  target: HTMLElement,
  { days, series, kind, format }: Drawing,
  scheme: 'light' | 'dark',
  onDay: (index: number | null) => void,
): () => void {
  const ink = INK[scheme];
  const axis = {
    stroke: ink.text,
    font: FONT,
    grid: { stroke: ink.grid, width: 1 },
    ticks: { show: false },
  };
  const bars = kind === 'bars';
  const paths = uPlot.paths.bars!({ size: [0.7, 48], radius: 0.1 });
  const plot = new uPlot(
    {
      width: target.clientWidth,
      height: HEIGHT_PX,
      tzDate: seconds => uPlot.tzDate(new Date(seconds * 1e3), 'Etc/UTC'),
      legend: { show: false },
      cursor: { points: { show: !bars }, drag: { x: false, y: false }, y: false },
      scales: {
        // Half a day of padding for the first and last bar.
        x: { range: (_, min, max) => [min - DAY_S / 2, max + DAY_S / 2] },
        y: { range: (_, __, max) => [0, Math.max(max * 1.08, 1)] },
      },
      axes: [
        {
          ...axis,
          size: 28,
          grid: { show: false },
          values: '{MMM} {D}',
          space: 70,
          incrs: [1, 2, 3, 7, 14, 30, 60].map(count => count * DAY_S),
        },
        {
          ...axis,
          size: 64,
          ...(bars && { incrs: WHOLE_STEPS }),
          values: (_, splits) => splits.map(format),
        },
      ],
      series: [
        {},
        ...(bars ? [...series].reverse() : series).map(({ label, color }) => ({
          label,
          stroke: color[scheme],
          ...(bars
            ? { fill: color[scheme], width: 0, paths, points: { show: false } }
            : { width: 2, points: { show: true, size: 5, fill: color[scheme] } }),
        })),
      ],
      hooks: { setCursor: [({ cursor }) => onDay(cursor.idx ?? null)] },
    },
    [
      days.map(day => Date.parse(day) / 1e3),
      ...(bars ? stacked(series).reverse() : series.map(({ values }) => values)),
    ],
    target,
  );
  const resized = new ResizeObserver(() =>
    plot.setSize({ width: target.clientWidth, height: HEIGHT_PX }),
  );
  resized.observe(target);
  return () => {
    resized.disconnect();
    plot.destroy();
  };
}
