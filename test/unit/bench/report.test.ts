import { expect } from 'chai';
import { cellsOf, readOptions } from '../../../bench/cells.ts';
import { ROLES, type Role } from '../../../bench/cpu.ts';
import type { Memory } from '../../../bench/memory.ts';
import { type Measured, type Result, summarise } from '../../../bench/report.ts';
import { showSummary, showVerdicts } from '../../../bench/show.ts';
import { judge } from '../../../bench/targets.ts';

const cells = cellsOf(readOptions([]));
const invoiceAt = (callers: number) =>
  cells.find(({ document, callers: count }) => document === 'invoice' && count === callers)!;

interface Input {
  perSecond?: number;
  timesMs?: readonly number[];
  done?: number;
  cpu?: Partial<Record<Role, number>>;
  memory?: Partial<Memory>;
}

const measured = ({
  perSecond = 20,
  timesMs = [50],
  done = 10,
  cpu = {},
  memory = {},
}: Input): Measured => ({
  perSecond,
  timesMs,
  done,
  spent: {
    byRole: Object.fromEntries(ROLES.map(role => [role, cpu[role] ?? 0])) as Record<Role, number>,
    machine: 1_000,
  },
  memory: { residentMb: {}, ownMb: {}, chromeMb: 0, renderers: 0, renderersMb: 0, ...memory },
});

const result = (callers: number, ...rounds: [bare: Input, pressroom: Input][]): Result => ({
  cell: invoiceAt(callers),
  rounds: rounds.map(([bare, pressroom]) => ({
    bare: measured(bare),
    pressroom: measured(pressroom),
  })),
});

describe('benchmark report', () => {
  const ofPressroom = (input: Result) =>
    summarise(input).sides.find(({ side }) => side === 'pressroom')!;

  it('compares each round with bare Chrome in the same round', () => {
    const { ratio, perSecond } = ofPressroom(
      result(
        2,
        [{ perSecond: 20 }, { perSecond: 20 }],
        [{ perSecond: 10 }, { perSecond: 12 }],
        [{ perSecond: 20 }, { perSecond: 18 }],
      ),
    );
    expect(ratio!.throughput).to.deep.equal({ min: 0.9, median: 1, max: 1.2 });
    expect(perSecond).to.equal(18);
  });

  it('calculates quantiles over the renders of all rounds', () => {
    const first = Array.from({ length: 50 }, (_, n) => n + 1);
    const second = Array.from({ length: 50 }, (_, n) => n + 51);
    const { p50Ms, p95Ms, p99Ms } = ofPressroom(
      result(2, [{}, { timesMs: first }], [{}, { timesMs: second }]),
    );
    expect([p50Ms, p95Ms, p99Ms]).to.deep.equal([50, 95, 99]);
  });

  it('divides the CPU time of each process by all renders', () => {
    const { cpuMs, machineMs } = ofPressroom(
      result(
        2,
        [{}, { done: 10, cpu: { api: 10, chrome: 600 } }],
        [{}, { done: 30, cpu: { api: 70, chrome: 1_800 } }],
      ),
    );
    expect(cpuMs.api).to.equal(2);
    expect(cpuMs.chrome).to.equal(60);
    expect(machineMs).to.equal(50);
  });

  it('contains the peak memory of each process', () => {
    const { memory } = ofPressroom(
      result(
        2,
        [
          {},
          {
            memory: {
              residentMb: { api: 100, worker: 90 },
              chromeMb: 300,
              renderers: 3,
              renderersMb: 90,
            },
          },
        ],
        [
          {},
          {
            memory: {
              residentMb: { api: 90, worker: 95 },
              chromeMb: 200,
              renderers: 4,
              renderersMb: 100,
            },
          },
        ],
      ),
    );
    expect(memory).to.deep.include({
      residentMb: { api: 100, worker: 95 },
      chromeMb: 300,
      renderers: 3,
      renderersMb: 90,
    });
  });

  it('omits missing sides, and ratios without a pair', () => {
    const alone = summarise({ cell: invoiceAt(2), rounds: [{ pressroom: measured({}) }] });
    expect(alone.sides.map(({ side }) => side)).to.deep.equal(['pressroom']);
    expect(alone.sides[0]!.ratio).to.equal(undefined);
  });

  it('shows one row per side, with the memory per busy slot', () => {
    const input = result(8, [
      { perSecond: 25 },
      {
        perSecond: 27.51,
        cpu: { api: 15 },
        memory: { chromeMb: 300, renderers: 4, renderersMb: 100 },
      },
    ]);
    const lines = showSummary(summarise(input), () => 2);
    expect(lines[0]).to.equal('invoice, 8 callers (6 rounds)');
    expect(lines[3]).to.match(
      /^ {2}pressroom +27\.5 +1\.10 \(1\.10 to 1\.10\) +50 +1\.00 \(1\.00 to 1\.00\) +50 +50 +api 1\.5 \| machine 100\.0/,
    );
    expect(lines[3]).to.match(/chrome 300 \(per busy slot 150, per renderer 25\)$/);
  });
});

describe('benchmark targets', () => {
  const good: Input = {
    perSecond: 24,
    timesMs: [37],
    cpu: { api: 19, worker: 20, mongod: 10, client: 500 },
    memory: { residentMb: { api: 149, worker: 119 } },
  };
  const all = (input: Input) =>
    [1, 2, 4, 8, 32].map(callers =>
      summarise(result(callers, [{ perSecond: 20 }, { ...good, ...input }])),
    );
  const missed = (input: Input) =>
    judge(all(input))
      .filter(({ met }) => met === false)
      .map(({ what }) => what);

  it('are all met by a good run', () => {
    expect(judge(all({})).map(({ met }) => met)).to.not.include.members([false, undefined]);
  });

  for (const [what, input, prefix] of [
    [
      'a lower throughput than bare Chrome',
      { perSecond: 18.9 },
      'throughput at 2 callers, relative to',
    ],
    [
      'an insufficient lead over bare Chrome',
      { perSecond: 22.9 },
      'throughput at 2 callers, lead over',
    ],
    ['a slow response to one caller', { timesMs: [38] }, 'p50 at 1 caller'],
    [
      'too much CPU without Chrome',
      { cpu: { api: 15, worker: 30, mongod: 6 } },
      'CPU without Chrome at 4 callers',
    ],
    ['too much CPU of the API', { cpu: { api: 21 } }, 'CPU of the API at 8 callers'],
    ['a large API', { memory: { residentMb: { api: 150 } } }, 'resident memory of the API'],
    [
      'a large worker',
      { memory: { residentMb: { worker: 120 } } },
      'resident memory of the worker process',
    ],
  ] as const)
    it(`are missed by ${what}`, () => {
      expect(missed(input).some(each => each.startsWith(prefix))).to.equal(true);
      expect(missed(input).length).to.be.at.most(6);
    });

  it('are neither met nor missed without a measurement', () => {
    const verdicts = judge([
      summarise({
        cell: cells.find(({ document }) => document === 'chart')!,
        rounds: [{ bare: measured({}) }],
      }),
    ]);
    expect(new Set(verdicts.map(({ met }) => met))).to.deep.equal(new Set([undefined]));
    expect(showVerdicts(verdicts)[0]).to.equal(
      'not measured  throughput at 2 callers, relative to bare Chrome: no value, target at least 0.95',
    );
  });

  it('are shown with the measured value', () => {
    expect(showVerdicts(judge(all({ perSecond: 18 })))[0]).to.equal(
      'MISSED        throughput at 2 callers, relative to bare Chrome: 0.90, target at least 0.95',
    );
  });
});
