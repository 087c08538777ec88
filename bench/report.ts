// Summarizes a run: figures per cell and side, and their ratios to bare Chrome. Pure.
import type { Cell, SideName } from './cells.ts';
import { ROLES, type Role, type Spent } from './cpu.ts';
import { median, quantile } from './load.ts';
import { type Memory, most } from './memory.ts';

export interface Measured {
  perSecond: number;
  timesMs: readonly number[];
  /** Number of renders, including unmeasured ones, over which `spent` is spread. */
  done: number;
  spent: Spent;
  memory: Memory;
}

/** A round of a cell, by side. */
export type Round = Partial<Record<SideName, Measured>>;

export interface Result {
  cell: Cell;
  rounds: Round[];
}

export interface Spread {
  min: number;
  median: number;
  max: number;
}

export interface SideSummary {
  side: SideName;
  rounds: number;
  perSecond: number;
  p50Ms: number;
  p95Ms: number;
  p99Ms: number;
  /** Milliseconds per render. */
  cpuMs: Record<Role, number>;
  machineMs: number;
  memory: Memory;
  /** Ratio to bare Chrome in the same round. */
  ratio?: { throughput: Spread; p50: Spread };
}

export interface Summary {
  cell: Cell;
  sides: SideSummary[];
}

const spread = (values: number[]): Spread => ({
  min: Math.min(...values),
  median: median(values),
  max: Math.max(...values),
});
const sum = (values: number[]) => values.reduce((total, value) => total + value, 0);

function summariseSide(side: SideName, rounds: readonly Round[]): SideSummary | undefined {
  const own = rounds.flatMap(round => round[side] ?? []);
  if (own.length === 0) return undefined;
  const timesMs = own.flatMap(each => each.timesMs);
  const done = sum(own.map(each => each.done));
  const perRender = (of: (spent: Spent) => number) => sum(own.map(({ spent }) => of(spent))) / done;
  const pairs = rounds.flatMap(({ bare, [side]: other }) =>
    bare && other && side !== 'bare' ? [{ bare, other }] : [],
  );
  return {
    side,
    rounds: own.length,
    perSecond: median(own.map(each => each.perSecond)),
    p50Ms: quantile(timesMs, 0.5),
    p95Ms: quantile(timesMs, 0.95),
    p99Ms: quantile(timesMs, 0.99),
    cpuMs: Object.fromEntries(
      ROLES.map(role => [role, perRender(({ byRole }) => byRole[role])]),
    ) as Record<Role, number>,
    machineMs: perRender(({ machine }) => machine),
    memory: most(own.map(each => each.memory)),
    ...(pairs.length > 0 && {
      ratio: {
        throughput: spread(pairs.map(({ bare, other }) => other.perSecond / bare.perSecond)),
        p50: spread(
          pairs.map(
            ({ bare, other }) => quantile(other.timesMs, 0.5) / quantile(bare.timesMs, 0.5),
          ),
        ),
      },
    }),
  };
}

export const summarise = ({ cell, rounds }: Result): Summary => ({
  cell,
  sides: cell.sides.flatMap(side => summariseSide(side, rounds) ?? []),
});
