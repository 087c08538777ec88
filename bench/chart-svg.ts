// Draws the result of a run as SVG: throughput and p50 by callers, and CPU by process, for the
// plain invoice. Pure.
import type { SideName } from './cells.ts';
import { type Axis, countAxis, linearAxis, logAxis } from './chart-axis.ts';
import { ROLES, type Role } from './cpu.ts';
import type { SideSummary, Summary } from './report.ts';

const [WIDTH, HEIGHT] = [1_240, 470];
const PLOT = { top: 96, height: 270 };
const PANELS = {
  throughput: { left: 70, width: 310 },
  p50: { left: 470, width: 310 },
  cpu: { left: 870, width: 340 },
};

const SIDE_COLOURS: Record<SideName, string> = {
  bare: '#6b7280',
  pressroom: '#0b62c4',
  puppeteer: '#c2410c',
  'puppeteer-cluster': '#15803d',
};
const ROLE_COLOURS: Record<Role, string> = {
  chrome: '#94a3b8',
  worker: '#0b62c4',
  api: '#7c3aed',
  mongod: '#15803d',
  driver: '#d97706',
  client: '#111827',
};
/** Numbers of callers for which CPU is shown, if measured. */
const CPU_CALLERS = 2;

interface Panel {
  left: number;
  width: number;
}

const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
const short = (value: number) => String(Math.round(value * 10) / 10);

const label = (x: number, y: number, text: string, more = '') =>
  `<text x="${short(x)}" y="${short(y)}" ${more}>${escaped(text)}</text>`;

/** Title, axes, grid and units of a panel. */
function frame(
  { left, width }: Panel,
  title: string,
  xTitle: string,
  x: Axis | undefined,
  y: Axis,
): string[] {
  const bottom = PLOT.top + PLOT.height;
  const rows = y.ticks.flatMap(tick => {
    const at = bottom - y.at(tick) * PLOT.height;
    return [
      `<line x1="${left}" y1="${short(at)}" x2="${left + width}" y2="${short(at)}" stroke="#e5e7eb"/>`,
      label(left - 8, at + 4, String(tick), 'text-anchor="end"'),
    ];
  });
  const columns = (x?.ticks ?? []).map(tick =>
    label(left + x!.at(tick) * width, bottom + 18, String(tick), 'text-anchor="middle"'),
  );
  return [
    label(left - 40, PLOT.top - 18, title, 'font-weight="bold"'),
    ...rows,
    `<path d="M${left} ${PLOT.top}V${bottom}H${left + width}" fill="none" stroke="#6b7280"/>`,
    ...columns,
    label(left + width / 2, bottom + 38, xTitle, 'text-anchor="middle"'),
  ];
}

type Point = { callers: number; value: number };

function lines(panel: Panel, x: Axis, y: Axis, bySide: ReadonlyMap<SideName, Point[]>): string[] {
  return [...bySide].flatMap(([side, points]) => {
    const places = points.map(({ callers, value }) => [
      short(panel.left + x.at(callers) * panel.width),
      short(PLOT.top + (1 - y.at(value)) * PLOT.height),
    ]);
    const colour = SIDE_COLOURS[side];
    return [
      `<polyline points="${places.map(place => place.join(',')).join(' ')}" fill="none" stroke="${colour}" stroke-width="2.5"/>`,
      ...places.map(([cx, cy]) => `<circle cx="${cx}" cy="${cy}" r="4" fill="${colour}"/>`),
    ];
  });
}

/** One stacked bar per side with its sum. */
function bars({ left, width }: Panel, y: Axis, sides: readonly SideSummary[]): string[] {
  const bottom = PLOT.top + PLOT.height;
  const step = width / Math.max(1, sides.length);
  return sides.flatMap(({ side, cpuMs }, nth) => {
    let under = 0;
    const x = left + step * (nth + 0.2);
    const pieces = ROLES.map(role => {
      const [from, to] = [y.at(under), y.at(under + cpuMs[role])];
      under += cpuMs[role];
      const height = (to - from) * PLOT.height;
      return `<rect x="${short(x)}" y="${short(bottom - to * PLOT.height)}" width="${short(step * 0.6)}" height="${short(height)}" fill="${ROLE_COLOURS[role]}"/>`;
    });
    const middle = x + step * 0.3;
    return [
      ...pieces,
      label(
        middle,
        bottom - y.at(under) * PLOT.height - 6,
        under.toFixed(0),
        'text-anchor="middle" font-weight="bold"',
      ),
      label(middle, bottom + 18, side, 'text-anchor="middle" font-size="11"'),
    ];
  });
}

function legend(
  left: number,
  top: number,
  entries: readonly (readonly [string, string])[],
): string[] {
  let at = left;
  return entries.flatMap(([name, colour]) => {
    const x = at;
    at += 26 + name.length * 7.2;
    return [
      `<rect x="${short(x)}" y="${top - 10}" width="12" height="12" fill="${colour}"/>`,
      label(x + 17, top, name),
    ];
  });
}

/** `machine` describes the machine of the measurement. */
export function chartSvg(summaries: readonly Summary[], machine: string): string {
  const plain = summaries
    .filter(({ cell }) => cell.document === 'invoice' && cell.by === 'html' && !cell.stamped)
    .toSorted((a, b) => a.cell.callers - b.cell.callers);
  const names = [...new Set(plain.flatMap(({ sides }) => sides.map(({ side }) => side)))];
  const series = (of: (side: SideSummary) => number) =>
    new Map(
      names.map(name => [
        name,
        plain.flatMap(({ cell, sides }) =>
          sides
            .filter(({ side }) => side === name)
            .map(side => ({ callers: cell.callers, value: of(side) })),
        ),
      ]),
    );
  const [throughput, p50] = [series(side => side.perSecond), series(side => side.p50Ms)];
  const values = (bySide: ReadonlyMap<SideName, Point[]>) =>
    [...bySide.values()].flatMap(points => points.map(({ value }) => value));
  const x = countAxis(plain.map(({ cell }) => cell.callers));
  const atCpu = plain.find(({ cell }) => cell.callers === CPU_CALLERS) ?? plain[0];
  const total = ({ cpuMs }: SideSummary) => ROLES.reduce((sum, role) => sum + cpuMs[role], 0);
  const [perSecond, ms, cpu] = [
    linearAxis(values(throughput)),
    logAxis(values(p50)),
    linearAxis((atCpu?.sides ?? []).map(total)),
  ];
  const content = [
    label(
      30,
      28,
      'Pressroom beside bare Chrome and what people use from npm: an A4 invoice of 40 rows',
      'font-size="17" font-weight="bold"',
    ),
    label(30, 48, machine, 'fill="#6b7280"'),
    ...frame(PANELS.throughput, 'Renders a second (more is better)', 'callers', x, perSecond),
    ...lines(PANELS.throughput, x, perSecond, throughput),
    ...frame(PANELS.p50, 'p50 in ms, logarithmic (less is better)', 'callers', x, ms),
    ...lines(PANELS.p50, x, ms, p50),
    ...frame(
      PANELS.cpu,
      'CPU ms a render (less is better)',
      `at ${atCpu?.cell.callers ?? CPU_CALLERS} callers`,
      undefined,
      cpu,
    ),
    ...bars(PANELS.cpu, cpu, atCpu?.sides ?? []),
    ...legend(
      70,
      HEIGHT - 22,
      names.map(name => [name, SIDE_COLOURS[name]]),
    ),
    ...legend(
      780,
      HEIGHT - 22,
      ROLES.map(role => [role, ROLE_COLOURS[role]]),
    ),
  ];
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" font-family="sans-serif" font-size="13" fill="#111827">
<rect width="100%" height="100%" fill="#ffffff"/>
${content.join('\n')}
</svg>
`;
}
