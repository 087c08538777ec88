// @proves scaling

import { expect } from 'chai';
import fc from 'fast-check';
import { decide } from '../../../../controller/decide/decide.ts';
import {
  type Decision,
  type History,
  type Load,
  noHistory,
  type Observation,
  REASONS,
  type ScalingSpec,
} from '../../../../controller/decide/model.ts';
import { load, poolOf } from './fixture.ts';

const scaling = fc
  .record({
    minReplicas: fc.nat(30),
    maxReplicas: fc.integer({ min: 1, max: 120 }),
    targetUtilizationPercent: fc.integer({ min: 10, max: 100 }),
    idleSlots: fc.nat(20),
    stableWindowSeconds: fc.integer({ min: 10, max: 300 }),
    panicWindowSeconds: fc.integer({ min: 1, max: 10 }),
    drainSeconds: fc.integer({ min: 1, max: 60 }),
    scaleUp: fc.record({
      maxPodsPerMinute: fc.integer({ min: 1, max: 50 }),
      maxPercentPerMinute: fc.nat(900),
    }),
    scaleDown: fc.record({
      delaySeconds: fc.nat(600),
      maxPodsPerMinute: fc.integer({ min: 1, max: 20 }),
      maxPercentPerMinute: fc.nat(100),
    }),
  })
  .filter(({ minReplicas, maxReplicas }) => minReplicas <= maxReplicas);

const pools = fc
  .tuple(scaling, fc.integer({ min: 1, max: 8 }))
  .map(([spec, slotsPerPod]) => poolOf(spec, { slotsPerPod }));

const measured = fc.record({
  kind: fc.constant('measured' as const),
  busySlots: fc.nat(300),
  runningMs: fc.nat(3_000_000),
  queuedRenders: fc.oneof(fc.constant(0), fc.nat(2_000)),
  oldestWaitMs: fc.nat(60_000),
  scrapeIntervalMs: fc.constantFrom(1_000, 5_000, 30_000),
  sampleAgeMs: fc.nat(60_000),
  partial: fc.boolean(),
});
const away = fc.constant<Load>({
  kind: 'unknown',
  reason: 'stale',
  message: 'The newest sample is 40 s old',
});
const loads = fc.oneof({ weight: 6, arbitrary: measured }, { weight: 1, arbitrary: away });

/** Observations: the load, the time since the previous one, and changes by another client. */
const observations = fc.array(
  fc.record({
    load: loads,
    afterMs: fc.integer({ min: 0, max: 40_000 }),
    notReady: fc.nat(5),
    byHand: fc.option(fc.nat(150), { freq: 12 }),
  }),
  { minLength: 1, maxLength: 40 },
);
type Observations = typeof observations extends fc.Arbitrary<infer T> ? T : never;

interface Step {
  seen: Observation;
  decision: Decision;
  nowMs: number;
}

/**
 * The decision for each observation. The Deployment follows each, unless another client scales it.
 */
function decisionsFor(
  pool: ScalingSpec,
  all: Observations,
  first: number | undefined = undefined,
): Step[] {
  let history: History = noHistory(0);
  let pods = first;
  let nowMs = 0;
  return all.map(look => {
    nowMs += look.afterMs;
    if (look.byHand !== null) pods = look.byHand;
    const seen = { pods, readyPods: Math.max(0, (pods ?? 0) - look.notReady), load: look.load };
    const decision = decide(pool, seen, history, nowMs);
    history = decision.history;
    pods = decision.pods;
    return { seen, decision, nowMs };
  });
}

const holds = (check: (pool: ScalingSpec, steps: Step[]) => void, runs = 300) =>
  fc.assert(
    fc.property(
      pools,
      observations,
      fc.option(fc.nat(100), { nil: undefined }),
      (pool, all, first) => check(pool, decisionsFor(pool, all, first)),
    ),
    { numRuns: runs },
  );

describe('every scaling decision', () => {
  it('is between minReplicas and maxReplicas', () => {
    holds(({ scaling: { minReplicas, maxReplicas } }, steps) => {
      for (const { decision } of steps)
        expect(decision.pods).to.be.within(minReplicas, maxReplicas);
    });
  });

  it('does not shrink the pool while the load is unknown or partial', () => {
    holds((pool, steps) => {
      for (const { seen, decision } of steps)
        if (seen.load.kind === 'unknown' || seen.load.partial)
          expect(decision.pods).to.be.at.least(Math.min(seen.pods ?? 0, pool.scaling.maxReplicas));
    });
  });

  it('does not shrink the pool in the first stable window of a controller', () => {
    holds((pool, steps) => {
      const endsMs = steps[0]!.nowMs + pool.scaling.stableWindowSeconds * 1_000;
      for (const { seen, decision, nowMs } of steps)
        if (nowMs < endsMs)
          expect(decision.pods).to.be.at.least(Math.min(seen.pods ?? 0, pool.scaling.maxReplicas));
    });
  });

  it('respects the rate limits, except for minReplicas, maxReplicas and restored pods', () => {
    holds((pool, steps) => {
      const { scaleUp, scaleDown, minReplicas, maxReplicas } = pool.scaling;
      for (const [nth, { seen, decision, nowMs }] of steps.entries()) {
        const minute = steps.slice(0, nth).filter(step => step.nowMs > nowMs - 60_000);
        const asked = steps[nth - 1]?.decision.pods ?? 0;
        const sizes = [Math.max(seen.pods ?? 0, asked), ...minute.map(step => step.decision.pods)];
        const [low, high] = [Math.min(...sizes), Math.max(...sizes)];
        const up = Math.max(
          scaleUp.maxPodsPerMinute,
          Math.floor((low * scaleUp.maxPercentPerMinute) / 100),
        );
        const down = Math.max(
          scaleDown.maxPodsPerMinute,
          Math.floor((high * scaleDown.maxPercentPerMinute) / 100),
        );
        expect(decision.pods).to.be.at.most(Math.max(low + up, minReplicas, asked, seen.pods ?? 0));
        expect(decision.pods).to.be.at.least(Math.min(high - down, maxReplicas, seen.pods ?? 0));
      }
    });
  });

  it('keeps added pods for twice the panic window, and shrinks at most once per panic window', () => {
    const calm = fc.tuple(pools, observations).map(([pool, all]) => ({
      pool: {
        ...pool,
        scaling: { ...pool.scaling, scaleDown: { ...pool.scaling.scaleDown, delaySeconds: 180 } },
      },
      all: all.map(look => ({
        ...look,
        byHand: null,
        load: look.load.kind === 'measured' ? { ...look.load, scrapeIntervalMs: 5_000 } : look.load,
      })),
    }));
    fc.assert(
      fc.property(calm, ({ pool, all }) => {
        const panicMs = Math.max(15_000, pool.scaling.panicWindowSeconds * 1_000);
        let [grownMs, shrunkMs] = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY];
        for (const { seen, decision, nowMs } of decisionsFor(pool, all)) {
          const before = seen.pods ?? 0;
          if (decision.pods > before && decision.reason !== 'below_min') grownMs = nowMs;
          if (decision.pods >= before) continue;
          expect(nowMs - grownMs).to.be.at.least(2 * panicMs);
          expect(nowMs - shrunkMs).to.be.at.least(panicMs);
          shrunkMs = nowMs;
        }
      }),
      { numRuns: 300 },
    );
  });

  it('is deterministic and does not modify its arguments', () => {
    fc.assert(
      fc.property(pools, observations, (pool, all) => {
        const before = structuredClone({ pool, all });
        const steps = decisionsFor(pool, all);
        expect(decisionsFor(pool, all)).to.deep.equal(steps);
        expect({ pool, all }).to.deep.equal(before);
      }),
      { numRuns: 60 },
    );
  });

  it('keeps its history small and serializable', () => {
    holds((_pool, steps) => {
      const { history } = steps.at(-1)!.decision;
      expect(
        JSON.parse(JSON.stringify({ ...history, askedPods: history.askedPods ?? null })),
      ).to.be.an('object');
      expect(history.offered.length).to.be.at.most(61);
      expect(history.starts.orders.length).to.be.at.most(20);
    }, 50);
  });

  it('keeps its history bounded over many decisions', () => {
    const pool = poolOf({ maxReplicas: 1_000, scaleDown: { delaySeconds: 86_400 } });
    let history = noHistory(0);
    for (let nowMs = 0; nowMs < 3_000_000; nowMs += 250) {
      const seen = {
        pods: history.askedPods ?? 1,
        readyPods: 1,
        load: load(Math.max(0, 1_400 - nowMs / 1_000), nowMs % 7_000, nowMs % 9_000),
      };
      history = decide(pool, seen, history, nowMs).history;
    }
    const { offered, desiredPeaks, burstPeaks, sizes, starts } = history;
    expect(offered.length).to.be.at.most(61);
    for (const kept of [desiredPeaks, burstPeaks, sizes.peaks, sizes.lows])
      expect(kept.length).to.be.at.most(2_001);
    expect(starts.orders.length).to.be.at.most(20);
  });

  it('is not smaller for a larger load', () => {
    fc.assert(
      fc.property(
        pools,
        fc.nat(100),
        fc.nat(200),
        fc.nat(1_000),
        fc.integer({ min: 1, max: 60_000 }),
        fc.nat(50),
        fc.nat(500),
        (pool, pods, busy, queued, waitMs, moreBusy, moreQueued) => {
          const pick = (more: number, waiting: number) =>
            decide(
              pool,
              { pods, readyPods: pods, load: load(busy + more, waiting, waiting > 0 ? waitMs : 0) },
              noHistory(0),
              0,
            ).pods;
          expect(pick(moreBusy, queued)).to.be.at.least(pick(0, queued));
          expect(pick(0, queued + moreQueued)).to.be.at.least(pick(0, queued));
        },
      ),
      { numRuns: 500 },
    );
  });

  it('has a valid size, reason and message for any observation', () => {
    const odd = fc.oneof(
      fc.double(),
      fc.constantFrom(
        Number.NaN,
        Number.POSITIVE_INFINITY,
        Number.NEGATIVE_INFINITY,
        -1,
        1e300,
        0.5,
      ),
    );
    const oddLoad = fc.record({
      kind: fc.constant('measured' as const),
      busySlots: odd,
      queuedRenders: odd,
      oldestWaitMs: odd,
      scrapeIntervalMs: odd,
      runningMs: odd,
      sampleAgeMs: odd,
      partial: fc.boolean(),
    });
    const seen = fc.record({
      pods: fc.option(odd, { nil: undefined }),
      readyPods: odd,
      load: fc.oneof(oddLoad, away),
    });
    fc.assert(
      fc.property(
        pools,
        fc.array(fc.tuple(seen, fc.integer({ min: -60_000, max: 600_000 })), {
          minLength: 1,
          maxLength: 20,
        }),
        (pool, all) => {
          let history = noHistory(0);
          let nowMs = 0;
          for (const [observation, afterMs] of all) {
            nowMs += afterMs;
            const decision = decide(pool, observation, history, nowMs);
            history = decision.history;
            expect(decision.pods)
              .to.satisfy(Number.isInteger)
              .and.be.within(pool.scaling.minReplicas, pool.scaling.maxReplicas);
            expect(REASONS).to.include(decision.reason);
            expect(decision.message)
              .to.match(/\.$/)
              .and.not.match(/NaN|undefined|Infinity/);
            expect(decision.requeueAfterMs).to.be.within(1_000, 60_000);
          }
        },
      ),
      { numRuns: 500 },
    );
  });
});
