import { expect } from 'chai';
import { decide } from '../../../../controller/decide/decide.ts';
import { noHistory, REASONS } from '../../../../controller/decide/model.ts';
import { controllerOf, load, poolOf, unknown } from './fixture.ts';

describe('message of a scaling decision', () => {
  it('names the limit and the desired size', () => {
    const pool = poolOf({ maxReplicas: 5 });
    const { limited, message } = decide(
      pool,
      { pods: 5, readyPods: 5, load: load(10, 60, 3_000) },
      noHistory(0),
      0,
    );
    expect(limited).to.have.property('by', 'max');
    expect(limited!.desiredPods).to.be.greaterThan(5);
    expect(message).to.contain('Limited to maxReplicas (5)');
    const above = decide(pool, { pods: 9, readyPods: 9, load: load(1) }, noHistory(0), 0);
    expect(above).to.include({ pods: 5, limited: undefined });
    const rate = poolOf({ scaleUp: { maxPodsPerMinute: 1, maxPercentPerMinute: 0 } });
    expect(
      decide(rate, { pods: 1, readyPods: 1, load: load(9) }, noHistory(0), 0).limited,
    ).to.have.property('by', 'rate');
  });

  it('names minReplicas as the limit, except for an idle pool with one pod', () => {
    const five = controllerOf(poolOf({ minReplicas: 5 }), 5);
    five.during(400, load(0));
    expect(five.last.limited).to.deep.equal({ by: 'min', desiredPods: 0 });
    const one = controllerOf(poolOf(), 1);
    one.during(400, load(0));
    expect(one.last.limited).to.equal(undefined);
  });

  it('contains the observed load', () => {
    const control = controllerOf(poolOf(), 2);
    control.during(60, load(2));
    const { message } = control.look(load(4, 31, 4_200));
    for (const part of [
      '4 busy slots',
      '3 ready pods',
      '31 queued renders 0.0 s ago, the oldest for 4.2 s',
      'within 10 s of the new pods being ready',
    ])
      expect(message).to.contain(part);
  });

  it('does not mention clearing a queue if there is none', () => {
    const control = controllerOf(poolOf(), 2);
    control.during(60, load(2));
    const burst = control.during(30, load(14)).find(({ reason }) => reason === 'panic');
    expect(burst!.message).to.contain('no queued renders').and.not.contain('Clearing the queue');
  });

  it('is complete for every reason', () => {
    const messages = new Map<string, string>();
    const note = (decision: { reason: string; message: string }) =>
      messages.set(decision.reason, decision.message);
    const control = controllerOf(poolOf({ minReplicas: 0 }), 0);
    const steps: [object, number, Parameters<typeof control.during>[1]][] = [
      [{}, 1, load(0, 1, 10)],
      [{}, 60, load(3)],
      [{}, 20, load(6, 20, 1_000)],
      [{}, 700, load(0)],
      [{}, 1, unknown],
    ];
    for (const [scaling, seconds, seen] of steps) {
      control.pool = poolOf({ minReplicas: 0, ...scaling });
      for (let second = 0; second < seconds; second++)
        control
          .during(1, typeof seen === 'function' ? seen(second) : seen)
          .concat(control.last)
          .forEach(note);
    }
    note(
      decide(poolOf({ minReplicas: 3 }), { pods: 1, readyPods: 1, load: load(0) }, noHistory(0), 0),
    );
    note(
      decide(poolOf({ maxReplicas: 3 }), { pods: 9, readyPods: 1, load: load(0) }, noHistory(0), 0),
    );
    note(
      decide(
        poolOf({}, { paused: true }),
        { pods: 9, readyPods: 1, load: load(0) },
        noHistory(0),
        0,
      ),
    );
    note(
      decide(
        poolOf({}, { replicas: 2 }),
        { pods: 9, readyPods: 1, load: load(0) },
        noHistory(0),
        0,
      ),
    );
    control.pool = poolOf();
    control.during(60, load(6));
    control.world.pods = 1;
    note(control.look(load(6)));
    control.pool = poolOf({ maxReplicas: 200 });
    control.during(200, second => load(6 + second / 10)).forEach(note);
    expect([...messages.keys()].sort()).to.deep.equal([...REASONS].sort());
    for (const message of messages.values())
      expect(message)
        .to.match(/^[A-Z0-9s].*\.$/)
        .and.not.match(/undefined|NaN|Infinity/);
  });
});
