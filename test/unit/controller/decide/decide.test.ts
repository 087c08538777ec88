import { expect } from 'chai';
import { decide } from '../../../../controller/decide/decide.ts';
import { noHistory } from '../../../../controller/decide/model.ts';
import { controllerOf, load, poolOf, unknown } from './fixture.ts';

describe('scaling decision', () => {
  describe('without history', () => {
    // [title, scaling, pods, load, size, reason]
    const table: [
      string,
      object,
      number | undefined,
      Parameters<typeof load> | 'unknown',
      number,
      string,
    ][] = [
      ['starts with minReplicas', { minReplicas: 3 }, undefined, [0], 3, 'below_min'],
      [
        'starts with zero pods if minReplicas is 0',
        { minReplicas: 0 },
        undefined,
        [0],
        0,
        'steady',
      ],
      [
        'starts with minReplicas without metrics',
        { minReplicas: 3 },
        undefined,
        'unknown',
        3,
        'below_min',
      ],
      [
        'scales up from zero for the first render',
        { minReplicas: 0 },
        0,
        [0, 1, 100],
        2,
        'from_zero',
      ],
      ['adds extra headroom for a small load', {}, 1, [2], 3, 'load'],
      [
        'scales to the target utilization for a large load',
        { maxReplicas: 100 },
        20,
        [70],
        50,
        'load',
      ],
      ['uses all slots at a target of 100 %', { targetUtilizationPercent: 100 }, 1, [8], 4, 'load'],
      [
        'adds idleSlots to the load',
        { idleSlots: 6, targetUtilizationPercent: 100 },
        1,
        [8],
        7,
        'load',
      ],
      ['keeps idleSlots without load', { minReplicas: 0, idleSlots: 4 }, 0, [0], 2, 'from_zero'],
      ['stops at maxReplicas', { maxReplicas: 5 }, 1, [2, 300, 5_000], 5, 'panic'],
      [
        'scales up to minReplicas immediately',
        { minReplicas: 12, scaleUp: { maxPodsPerMinute: 1, maxPercentPerMinute: 0 } },
        2,
        [0],
        12,
        'below_min',
      ],
      [
        'scales up to minReplicas without metrics',
        { minReplicas: 12 },
        2,
        'unknown',
        12,
        'below_min',
      ],
      [
        'scales down to maxReplicas immediately',
        { maxReplicas: 3 },
        18,
        [30, 9, 500],
        3,
        'above_max',
      ],
      [
        'scales down to maxReplicas without metrics',
        { maxReplicas: 3 },
        18,
        'unknown',
        3,
        'above_max',
      ],
      ['keeps the size without metrics', {}, 7, 'unknown', 7, 'no_metrics'],
      ['keeps the existing size until the load is known', {}, 7, [0], 7, 'steady'],
      [
        'limits growth to the scaleUp rate',
        { maxReplicas: 100, scaleUp: { maxPodsPerMinute: 6, maxPercentPerMinute: 100 } },
        4,
        [8, 900, 5_000],
        10,
        'panic',
      ],
    ];
    for (const [what, scaling, pods, seen, size, reason] of table)
      it(what, () => {
        const observation = {
          pods,
          readyPods: pods ?? 0,
          load: seen === 'unknown' ? unknown : load(...seen),
        };
        const decision = decide(poolOf(scaling), observation, noHistory(0), 1_000);
        expect(decision).to.include({ pods: size, reason });
      });

    it('does not change a paused pool, whatever its limits and load', () => {
      const pool = poolOf({ maxReplicas: 3 }, { paused: true, replicas: 9 });
      expect(
        decide(pool, { pods: 7, readyPods: 0, load: load(40, 40, 900) }, noHistory(0), 0),
      ).to.include({ pods: 7, reason: 'paused' });
    });

    it('uses spec.replicas, whatever the limits and the load', () => {
      const pool = poolOf({ maxReplicas: 3 }, { replicas: 9 });
      expect(decide(pool, { pods: 2, readyPods: 0, load: unknown }, noHistory(0), 0)).to.include({
        pods: 9,
        reason: 'fixed',
      });
      expect(
        decide(
          poolOf({}, { replicas: 0 }),
          { pods: 2, readyPods: 2, load: load(4) },
          noHistory(0),
          0,
        ).pods,
      ).to.equal(0);
    });
  });

  describe('with unknown load', () => {
    it('does not shrink while Prometheus is unavailable, nor for five minutes after', () => {
      const control = controllerOf(poolOf(), 1);
      control.during(600, load(14));
      const size = control.world.pods!;
      control.during(3_600, unknown);
      control.during(299, load(0));
      expect(control.world.pods).to.equal(size);
      control.during(400, load(0));
      expect(control.world.pods).to.equal(1);
    });

    it('grows but does not shrink while a process is missing in the metrics', () => {
      const control = controllerOf(poolOf(), 1);
      control.during(600, load(6));
      const size = control.world.pods!;
      control.during(1_200, load(1, 0, 0, { partial: true }));
      expect(control.world.pods).to.equal(size);
      expect(control.last.message).to.contain('Some processes are missing in Prometheus');
      control.during(60, load(14, 0, 0, { partial: true }));
      expect(control.world.pods).to.be.greaterThan(size);
    });

    it('does not shrink after a restart until its windows are full again', () => {
      const control = controllerOf(poolOf(), 1);
      control.during(600, load(14));
      const size = control.world.pods!;
      control.restart();
      control.during(299, load(0));
      expect(control.world.pods).to.equal(size);
      control.during(300, load(0));
      expect(control.world.pods).to.equal(1);
    });

    it('does not shrink immediately when a pause or a fixed size ends', () => {
      for (const rest of [{ paused: true }, { replicas: 9 }]) {
        const control = controllerOf(poolOf(), 9);
        control.during(60, load(14));
        control.pool = poolOf({}, rest);
        control.during(900, load(0));
        control.pool = poolOf();
        const size = control.world.pods;
        control.during(250, load(0));
        expect(control.world.pods).to.equal(size);
      }
    });

    it('treats values that are not numbers as missing', () => {
      const seen = { pods: 4, readyPods: 4, load: load(Number.NaN) };
      expect(decide(poolOf(), seen, noHistory(0), 0)).to.include({ pods: 4, reason: 'no_metrics' });
    });
  });

  describe('with changes by other clients', () => {
    it('restores pods that another client removed, immediately and without a rate limit', () => {
      const control = controllerOf(
        poolOf({ scaleUp: { maxPodsPerMinute: 1, maxPercentPerMinute: 0 } }),
        12,
      );
      control.during(600, load(14));
      const size = control.world.pods!;
      for (const seen of [load(14), load(14, 0, 0, { partial: true }), unknown]) {
        control.world.pods = 2;
        control.world.readyPods = 2;
        expect(control.look(seen)).to.include({ pods: size, reason: 'restored' });
      }
    });

    it('removes pods that another client added, within its rate limits', () => {
      const control = controllerOf(poolOf(), 3);
      control.during(600, load(2));
      const size = control.world.pods!;
      control.world.pods = 16;
      expect(control.look(load(2)).pods).to.equal(8);
      control.during(120, load(2));
      expect(control.world.pods).to.equal(size);
    });

    it('keeps pods that another client added while the load is unknown', () => {
      const control = controllerOf(poolOf(), 3);
      control.during(600, load(2));
      control.world.pods = 16;
      control.during(60, unknown);
      expect(control.world.pods).to.equal(16);
    });
  });
});
