// Formats the output of a run: a table for each cell, and the verdicts. Pure.
import { nameOf } from './cells.ts';
import { ROLES, type Role } from './cpu.ts';
import type { SideSummary, Spread, Summary } from './report.ts';
import type { Verdict } from './targets.ts';

const two = (value: number) => value.toFixed(2);
const showSpread = ({ min, median, max }: Spread) => `${two(median)} (${two(min)} to ${two(max)})`;

const HEAD = [
  'side',
  'renders/s',
  'vs. bare (min to max)',
  'p50 ms',
  'vs. bare (min to max)',
  'p95 ms',
  'p99 ms',
  'CPU ms per render',
  'peak MB',
];

function cpu({ cpuMs, machineMs }: SideSummary): string {
  const spent = ROLES.filter(role => cpuMs[role] >= 0.05).map(
    role => `${role} ${cpuMs[role].toFixed(1)}`,
  );
  return `${spent.join(', ')} | machine ${machineMs.toFixed(1)}`;
}

function megabytes(
  { memory: { residentMb, ownMb, chromeMb, renderers, renderersMb } }: SideSummary,
  busy: number,
): string {
  const nodes = Object.entries(residentMb).map(
    ([role, mb]) => `${role} ${mb.toFixed(0)} (own ${(ownMb[role as Role] ?? 0).toFixed(0)})`,
  );
  const each = renderers > 0 ? `, per renderer ${(renderersMb / renderers).toFixed(0)}` : '';
  return `${nodes.join(', ')}, chrome ${chromeMb.toFixed(0)} (per busy slot ${(chromeMb / busy).toFixed(0)}${each})`;
}

/** `slots` is the number of concurrent renders of a side. */
export function showSummary(
  { cell, sides }: Summary,
  slots: (side: SideSummary['side']) => number,
): string[] {
  const rows = sides.map(side => [
    side.side,
    side.perSecond.toFixed(side.perSecond < 10 ? 2 : 1),
    side.ratio ? showSpread(side.ratio.throughput) : '',
    side.p50Ms.toFixed(0),
    side.ratio ? showSpread(side.ratio.p50) : '',
    side.p95Ms.toFixed(0),
    side.p99Ms.toFixed(0),
    cpu(side),
    megabytes(side, Math.min(cell.callers, slots(side.side))),
  ]);
  const widths = HEAD.map((head, column) =>
    Math.max(head.length, ...rows.map(row => row[column]!.length)),
  );
  const line = (row: string[]) =>
    `  ${row.map((text, column) => text.padEnd(widths[column]!)).join('  ')}`.trimEnd();
  const heading = `${nameOf(cell)} (${cell.rounds} round${cell.rounds > 1 ? 's' : ''})`;
  return [heading, line(HEAD), ...rows.map(line)];
}

export const showVerdicts = (verdicts: readonly Verdict[]): string[] =>
  verdicts.map(({ what, target, found, met }) => {
    const word = met === undefined ? 'not measured' : met ? 'met' : 'MISSED';
    return `${word.padEnd(12)}  ${what}: ${found ?? 'no value'}, target ${target}`;
  });
