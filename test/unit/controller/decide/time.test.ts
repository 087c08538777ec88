import { expect } from 'chai';
import { controllerOf, load, poolOf } from './fixture.ts';

describe('size of a pool over time', () => {
  it('shrinks after five minutes of low load', () => {
    const control = controllerOf(poolOf(), 1);
    control.during(600, load(14));
    expect(control.world.pods).to.equal(11);
    const busyUntilMs = control.nowMs;
    const changes = control.during(900, load(1));
    expect(control.world.pods).to.equal(2);
    expect(changes.map(({ reason }) => reason)).to.satisfy((reasons: string[]) =>
      reasons.every(reason => reason === 'idle'),
    );
    expect(changes[0]!.history.atMs - busyUntilMs).to.be.within(300_000, 330_000);
    expect(changes[0]!.pods).to.be.at.least(6);
  });

  it('shrinks in few steps instead of one per pod', () => {
    const control = controllerOf(poolOf({ scaleDown: { delaySeconds: 60 } }), 1);
    control.during(600, load(14));
    const times = control.during(600, load(0)).map(({ history }) => history.atMs);
    const gaps = times.slice(1).map((time, nth) => time - times[nth]!);
    expect(Math.min(...gaps)).to.be.at.least(12_000);
  });

  it('scales to zero after the delay without renders, and not before', () => {
    const control = controllerOf(poolOf({ minReplicas: 0, scaleDown: { delaySeconds: 120 } }), 2);
    control.during(300, load(2));
    control.during(119, load(0));
    expect(control.world.pods).to.be.greaterThan(0);
    control.during(300, load(0));
    expect(control.world.pods).to.equal(0);
    expect(control.during(1, load(0, 1, 50))[0]).to.include({ pods: 2, reason: 'from_zero' });
  });

  it('does not count renders that queue up while pods start as load', () => {
    const control = controllerOf(poolOf({ maxReplicas: 200 }), 2);
    control.during(300, load(2));
    // 20 renders per second of 1 s each require 20 slots; there are 4.
    control.podsStart = false;
    const queued = (second: number) => load(4, 16 * (second + 1), 800 * (second + 1));
    control.during(12, queued);
    const first = control.world.pods!;
    expect(first).to.be.within(20 / 2, (4 * 20) / 2);
    control.during(3, second => queued(second + 12));
    expect(control.world.pods).to.be.within(first, 1.2 * first);
    // Dividing busy plus queued by 70 % of two slots would result in 174 pods.
  });

  it('does not keep growing while no pod starts', () => {
    const control = controllerOf(poolOf({ maxReplicas: 1_000 }), 1);
    control.during(60, load(1));
    control.podsStart = false;
    const jam = (second: number) => load(2, 8 * (second + 1), 1_000 * (second + 1));
    control.during(30, jam);
    const asked = control.world.pods!;
    control.during(240, second => jam(second + 30));
    expect(control.world.pods).to.equal(asked);
  });

  it('derives the arrival rate from the age of the queue', () => {
    // The same queue length within 2 s and within 10 s: the second load is a fifth.
    const sizes = [2_000, 10_000].map(oldestWaitMs => {
      const control = controllerOf(poolOf({ maxReplicas: 200 }), 2);
      control.during(60, load(2));
      control.look(load(4, 40, oldestWaitMs));
      return control.last.pods;
    });
    expect(sizes[0]).to.be.greaterThan(1.5 * sizes[1]!);
  });

  it('expects queued renders to take as long as running ones if only short ones have finished', () => {
    // After minutes of short renders, 12 arrive in 2 s while 6 have run for `ranMs`.
    const sizes = [100, 4_000].map(ranMs => {
      const control = controllerOf(poolOf({ maxReplicas: 200 }), 3);
      control.during(120, load(6, 0, 0, { runningMs: 300 }));
      return control.look(load(6, 12, 2_000, { runningMs: 6 * ranMs })).pods;
    });
    expect(sizes[1]).to.be.greaterThan(1.5 * sizes[0]!);
  });

  it('adds slots for all renders if the queue does not shrink for two scrapes', () => {
    const control = controllerOf(poolOf({ maxReplicas: 200 }), 3);
    control.during(60, load(0));
    // 30 renders in ten minutes: the arrival rate is close to zero.
    control.during(10, load(2, 30, 600_000));
    expect(control.world.pods).to.be.lessThan(8);
    control.during(6, load(2, 30, 600_000));
    expect(control.world.pods).to.be.at.least(16);
  });

  it('keeps the pods for a queue until it is empty, and removes them soon after', () => {
    const control = controllerOf(poolOf({ maxReplicas: 50 }), 2);
    control.during(600, load(2));
    control.during(30, second => load(4, 20 + 10 * second, 2_000 + 300 * second));
    const asked = control.world.pods!;
    expect(control.last.panic).to.equal(true);
    control.during(20, second =>
      load(2 * asked, Math.max(1, 300 - 15 * second), 9_000 - 400 * second),
    );
    expect(control.world.pods).to.be.at.least(asked);
    control.during(11, load(3));
    expect(control.world.pods).to.be.at.least(asked);
    control.during(30, load(3));
    expect(control.world.pods).to.be.lessThan(asked);
    expect(control.last.panic).to.equal(false);
  });

  it('estimates the render duration from a queue that is being cleared', () => {
    // Five slots serve one render per second: 5 s each.
    const control = controllerOf(poolOf({ maxReplicas: 5, minReplicas: 5 }, { slotsPerPod: 1 }), 5);
    control.during(120, second => load(5, 10 + second, (1_000 * (10 + second)) / 2));
    expect(control.history().queue.renderMs).to.be.within(4_000, 6_500);
  });

  it('does not misestimate the render duration after a burst that ends before pods are ready', () => {
    // 60 renders of 1 s each arrive within 15 s. From 30 s on, six slots serve them in order.
    const control = controllerOf(poolOf({ minReplicas: 0 }), 0);
    control.podsStart = false;
    control.during(40, second => {
      const come = Math.min(60, 4 * (second + 1));
      const served = Math.max(0, 6 * (second - 30));
      return load(
        second < 30 ? 0 : 6,
        Math.max(0, come - served),
        come > served ? 1_000 * (second + 1) - 250 * served : 0,
      );
    });
    expect(control.history().queue.renderMs).to.be.within(600, 1_500);
  });

  it('estimates how long pods take to start', () => {
    const control = controllerOf(poolOf({ maxReplicas: 100 }), 1);
    control.podsStart = false;
    for (let size = 2; size <= 60; size += 4) {
      control.pool = poolOf({ minReplicas: size, maxReplicas: 100 });
      control.during(40, load(1));
      control.world.readyPods = size;
      control.during(5, load(1));
    }
    expect(control.history().starts.startMs).to.be.within(35_000, 41_000);
  });
});
