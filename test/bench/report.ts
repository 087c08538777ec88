// What a run of the bench says: figures per side, the ratio per round with its spread, and whether the wanted ones are met. Pure.
import type { Cpu } from './cpu.ts';
import { median, type Round } from './load.ts';

export interface Measured extends Round {
  /** A render's share, by program. The bench's own process stands apart: it is the caller of one side and the driver of the other. */
  cpuMs: Cpu;
  benchCpuMs: number;
}

export interface Pair {
  service: Measured;
  bare: Measured;
}

export interface Level {
  parallel: number;
  rounds: Pair[];
}

interface Spread {
  min: number;
  median: number;
  max: number;
}

export interface Summary {
  parallel: number;
  throughputRatio: Spread;
  p50Ratio: Spread;
  service: Record<'perSecond' | 'p50Ms' | 'p95Ms', number>;
  bare: Record<'perSecond' | 'p50Ms' | 'p95Ms', number>;
  cpuMs: Record<'service' | 'bare', Cpu & { bench: number }>;
}

/** At so many in parallel the whole service keeps this share of what bare Chrome does, and answers no later. By the median of the rounds. */
export const WANTED = { throughput: { parallel: 2, atLeast: 0.9 }, latency: { parallel: 1, atMost: 1 } } as const;

const spread = (values: number[]): Spread => ({ min: Math.min(...values), median: median(values), max: Math.max(...values) });

export function summarise({ parallel, rounds }: Level): Summary {
  const side = (name: keyof Pair) => {
    const of = (figure: 'perSecond' | 'p50Ms' | 'p95Ms') => median(rounds.map(round => round[name][figure]));
    return { perSecond: of('perSecond'), p50Ms: of('p50Ms'), p95Ms: of('p95Ms') };
  };
  const cpu = (name: keyof Pair) => {
    const of = (program: keyof Cpu) => median(rounds.map(round => round[name].cpuMs[program]));
    const bench = median(rounds.map(round => round[name].benchCpuMs));
    return { chrome: of('chrome'), node: of('node'), mongod: of('mongod'), other: of('other'), bench };
  };
  return {
    parallel,
    throughputRatio: spread(rounds.map(({ service, bare }) => service.perSecond / bare.perSecond)),
    p50Ratio: spread(rounds.map(({ service, bare }) => service.p50Ms / bare.p50Ms)),
    service: side('service'),
    bare: side('bare'),
    cpuMs: { service: cpu('service'), bare: cpu('bare') },
  };
}

const two = (value: number) => value.toFixed(2);
const showSpread = ({ min, median, max }: Spread) => `${two(median)} (${two(min)} to ${two(max)})`;
const showCpu = (cpu: Cpu & { bench: number }) =>
  Object.entries(cpu)
    .filter(([, ms]) => ms > 0)
    .map(([program, ms]) => `${program} ${ms.toFixed(1)}`)
    .join(', ');

/** The lines for one number of renders in parallel. */
export function show(summary: Summary): string[] {
  const line = (name: string, { perSecond, p50Ms, p95Ms }: Summary['service'], cpu: Cpu & { bench: number }) =>
    `  ${name}  ${perSecond.toFixed(1).padStart(5)}/s   p50 ${p50Ms.toFixed(0).padStart(4)} ms   p95 ${p95Ms.toFixed(0).padStart(4)} ms   CPU ms a render: ${showCpu(cpu)}`;
  return [
    `${summary.parallel} in parallel`,
    line('service', summary.service, summary.cpuMs.service),
    line('bare   ', summary.bare, summary.cpuMs.bare),
    `  ratio    throughput ${showSpread(summary.throughputRatio)}   p50 ${showSpread(summary.p50Ratio)}`,
  ];
}

/** The wanted figures that this run did not reach. */
export function missed(summaries: readonly Summary[]): string[] {
  const { throughput, latency } = WANTED;
  const ratio = summaries.find(({ parallel }) => parallel === throughput.parallel)?.throughputRatio.median;
  const p50 = summaries.find(({ parallel }) => parallel === latency.parallel)?.p50Ratio.median;
  return [
    ...(ratio !== undefined && ratio < throughput.atLeast
      ? [`throughput at ${throughput.parallel} in parallel is ${two(ratio)} of bare Chrome's; wanted is ${throughput.atLeast}`]
      : []),
    ...(p50 !== undefined && p50 > latency.atMost
      ? [`p50 at ${latency.parallel} in parallel is ${two(p50)} of bare Chrome's; wanted is ${latency.atMost}`]
      : []),
  ];
}
