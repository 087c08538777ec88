// @proves Retry-After, trial

import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { Leases } from '../../../api/leases/leases.ts';
import type { LeaseTimes } from '../../../api/leases/mongo-leases.ts';
import { createTrialAdmission } from '../../../api/leases/trial-admission.ts';
import {
  type TrialCaller,
  type TrialConfig,
  trialLeases,
} from '../../../api/leases/trial-leases.ts';
import { connectStore, type Store } from '../../../api/store/store.ts';
import type { ApiError } from '../../../common/contract/errors.ts';
import type { Service } from '../../../common/lifecycle.ts';
import { silentLog } from '../../../common/log.ts';
import { commandOf } from '../../fault/harness/frames.ts';
import { openLink } from '../../fault/harness/link.ts';
import { eventually } from '../../support/eventually.ts';
import {
  type LeaseFixture,
  leaseFixture,
  QUICK,
  rejectionOf,
} from '../../support/lease-fixture.ts';

const PEPPER = 'a pepper of the trial tests';
const LIMIT = { perMinute: 5, parallel: 2 };

describe('the leases of trial callers', () => {
  let fixture: LeaseFixture;
  const running: Service[] = [];
  before(async () => {
    fixture = await leaseFixture();
  });
  afterEach(async () => {
    await fixture.reset();
    for (const leases of running.splice(0)) await leases.stop(AbortSignal.timeout(1_000));
    await fixture.store.trialLimits.deleteMany({});
  });
  after(() => fixture?.close());

  /** One process's part. */
  async function replica(
    times: Partial<LeaseTimes> = {},
    store: Store = fixture.store,
    config: Partial<TrialConfig> = {},
  ) {
    const admission = createTrialAdmission(LIMIT);
    const leases = trialLeases(
      store,
      { ...LIMIT, pepper: PEPPER, slots: () => 8, admission, times, ...config },
      silentLog,
    );
    await leases.start();
    running.push(leases);
    return leases;
  }

  const caller = (client: string): TrialCaller => ({ client, requestId: randomUUID() });
  /** A call whose render is over at once. */
  const call = async (leases: Leases<TrialCaller>, client: string) =>
    leases.release(await leases.admit(caller(client)));
  const code = (work: Promise<unknown>) =>
    work.then(
      () => 'ok',
      (error: ApiError) => error.code,
    );
  const clients = () => fixture.store.trialLimits.find({ calls: { $exists: true } }).toArray();
  const places = async () =>
    (await fixture.store.trialLimits.findOne({ _id: 'places' }))?.leases?.length;
  /** The calls of all visitors become so much older; `which`: from which one on. */
  const age = (ms: number, which = 0) =>
    fixture.store.trialLimits.updateMany({ calls: { $exists: true } }, [
      {
        $set: {
          calls: {
            $map: {
              input: { $range: [0, { $size: '$calls' }] },
              as: 'nth',
              in: {
                $mergeObjects: [
                  { $arrayElemAt: ['$calls', '$$nth'] },
                  {
                    $let: {
                      vars: { call: { $arrayElemAt: ['$calls', '$$nth'] } },
                      in: {
                        at: {
                          $subtract: ['$$call.at', { $cond: [{ $gte: ['$$nth', which] }, ms, 0] }],
                        },
                      },
                    },
                  },
                ],
              },
            },
          },
        },
      },
    ]);

  describe('of one visitor', () => {
    it('are five in a minute, whichever process is called, and the sixth is told when to come back', async () => {
      const [one, two] = [await replica(), await replica()];
      for (let nth = 0; nth < 5; nth++) await call(nth % 2 ? one : two, '198.51.100.7');
      for (const leases of [one, two]) {
        const refused = await rejectionOf(leases.admit(caller('198.51.100.7')));
        expect(refused).to.deep.include({
          code: 'rate_limited',
          status: 429,
          headers: { 'Retry-After': '60' },
        });
      }
      expect(await code(call(one, '198.51.100.8'))).to.equal('ok');
    });

    it('are five when they come at the same moments to ten processes that nobody has called before', async () => {
      const ten = await Promise.all(Array.from({ length: 10 }, () => replica()));
      for (let round = 0; round < 4; round++)
        await Promise.all(ten.map(leases => code(call(leases, '198.51.100.7'))));
      const [client] = await clients();
      expect(client!.calls).to.have.length(5);
    });

    it('are free again when each is a minute old, one by one', async () => {
      const leases = await replica();
      for (let nth = 0; nth < 5; nth++) await call(leases, '198.51.100.7');
      await age(59_000);
      const soon = await replica(); // which remembers nothing of it
      expect(await code(call(soon, '198.51.100.7'))).to.equal('rate_limited');
      await age(-59_000, 2); // three of them are young again
      await age(1_000);
      expect(await code(call(soon, '198.51.100.7'))).to.equal('ok');
      expect(await code(call(soon, '198.51.100.7'))).to.equal('ok');
      expect(await code(call(soon, '198.51.100.7'))).to.equal('rate_limited');
    });

    it('are remembered for exactly as long as they are used up', async () => {
      const closed: number[] = [];
      const admission = {
        ...createTrialAdmission(LIMIT),
        usedUp: (_: string, forMs: number) => void closed.push(forMs),
      };
      const leases = await replica({}, fixture.store, { admission });
      for (let nth = 0; nth < 4; nth++) await call(leases, '198.51.100.7');
      expect(closed).to.deep.equal([]);
      await age(50_000);
      await call(leases, '198.51.100.7');
      expect(closed).to.have.length(1);
      expect(closed[0]).to.be.within(1, 10_000);
    });

    it('change nothing when they are refused', async () => {
      const leases = await replica();
      for (let nth = 0; nth < 5; nth++) await call(leases, '198.51.100.7');
      const before = await clients();
      await rejectionOf(leases.admit(caller('198.51.100.7')));
      expect(await clients()).to.deep.equal(before);
    });

    it('are used up too when there is no place for them', async () => {
      const [one, two] = [await replica(), await replica()];
      await one.admit(caller('198.51.100.1'));
      await one.admit(caller('198.51.100.1'));
      for (let nth = 0; nth < 5; nth++)
        expect((await rejectionOf(two.admit(caller('198.51.100.7')))).message).to.match(/at once/);
      expect((await rejectionOf(two.admit(caller('198.51.100.7')))).message).to.match(/used up/);
    });

    it('never bring the address into the database, and go from it by themselves', async () => {
      const leases = await replica();
      await call(leases, '198.51.100.7');
      const stored = JSON.stringify(await fixture.store.trialLimits.find().toArray());
      expect(stored).to.not.include('198.51').and.to.not.include('100.7');
      const [client] = await clients();
      expect(client!._id).to.match(/^[\w-]{43}$/);
      expect(client!.expires!.getTime() - client!.calls![0]!.at.getTime()).to.equal(60_000);
      const index = (await fixture.store.trialLimits.indexes()).find(
        ({ name }) => name === 'expires',
      );
      expect(index).to.deep.include({ key: { expires: 1 }, expireAfterSeconds: 0 });
    });

    it('are told apart from those of the same visitor under another pepper', async () => {
      await call(await replica(), '198.51.100.7');
      await call(
        await replica({}, fixture.store, { pepper: 'another pepper of sixteen' }),
        '198.51.100.7',
      );
      expect(await clients()).to.have.length(2);
    });
  });

  describe('of the installation', () => {
    it('are two at once over all processes, and the third is told when to come back', async () => {
      const [one, two] = [await replica(), await replica()];
      const first = await one.admit(caller('198.51.100.1'));
      await two.admit(caller('198.51.100.2'));
      for (const [nth, leases] of [one, two].entries()) {
        const refused = await rejectionOf(leases.admit(caller(`198.51.100.${nth + 10}`)));
        expect(refused).to.deep.include({
          code: 'rate_limited',
          status: 429,
          headers: { 'Retry-After': '60' },
        });
      }
      await one.release(first);
      expect(await code(two.admit(caller('198.51.100.3')))).to.equal('ok');
    });

    it('are two when calls come at the same moment to ten processes', async () => {
      const ten = await Promise.all(Array.from({ length: 10 }, () => replica()));
      const ends = await Promise.all(
        ten.map((leases, nth) => code(leases.admit(caller(`198.51.100.${nth}`)))),
      );
      expect(ends.filter(end => end === 'ok')).to.have.length(2);
      expect(await places()).to.equal(2);
    });

    it('are asked for by no more calls of one process at once than there are', async () => {
      const leases = await replica();
      const ends = await Promise.all(
        Array.from({ length: 40 }, (_, nth) => code(leases.admit(caller(`198.51.100.${nth}`)))),
      );
      expect(ends.filter(end => end === 'ok')).to.have.length(2);
      expect(await clients()).to.have.length(2);
    });

    it('are no more than a quarter of the slots that the process knows', async () => {
      const leases = await replica({}, fixture.store, { slots: () => 7 });
      await leases.admit(caller('198.51.100.1'));
      expect(await code(leases.admit(caller('198.51.100.2')))).to.equal('rate_limited');
    });

    it('keep calls out before they are read, while the process knows that they are taken', async () => {
      const leases = await replica();
      const [first] = [
        await leases.admit(caller('198.51.100.1')),
        await leases.admit(caller('198.51.100.2')),
      ];
      expect(() => leases.enter('198.51.100.3'))
        .to.throw()
        .with.property('code', 'rate_limited');
      await leases.release(first);
      leases.enter('198.51.100.3')();
    });

    it('say to the admission that they are taken, and that one is free', async () => {
      const told: string[] = [];
      const admission = {
        ...createTrialAdmission(LIMIT),
        full: () => void told.push('full'),
        freed: () => void told.push('freed'),
      };
      const leases = await replica({}, fixture.store, { admission });
      const other = await replica();
      const [lease] = [
        await leases.admit(caller('198.51.100.1')),
        await other.admit(caller('198.51.100.2')),
      ];
      await rejectionOf(leases.admit(caller('198.51.100.3')));
      await leases.release(lease);
      expect(told).to.deep.equal(['full', 'freed']);
    });

    it('stay taken for as long as their render runs, however long that is', async () => {
      const leases = await replica(QUICK);
      const first = await leases.admit(caller('198.51.100.1'));
      const began = (await fixture.store.trialLimits.findOne({ _id: 'places' }))!.leases![0]!
        .expires;
      await eventually(async () => {
        const now = (await fixture.store.trialLimits.findOne({ _id: 'places' }))!.leases![0]!
          .expires;
        expect(now.getTime() - began.getTime()).to.be.above(QUICK.leaseMs!);
      });
      expect(first.lost.aborted).to.equal(false);
    });

    it('come free by themselves when their process is gone, and not before they have expired', async () => {
      const gone = await replica({ ...QUICK, renewEveryMs: 60_000 });
      await gone.admit(caller('198.51.100.1'));
      await gone.admit(caller('198.51.100.2'));
      const { leases } = (await fixture.store.trialLimits.findOne({ _id: 'places' }))!;
      const other = await replica(QUICK);
      let nth = 10;
      await eventually(async () =>
        expect(await code(other.admit(caller(`198.51.100.${nth++}`)))).to.equal('ok'),
      );
      const taken = (await fixture.store.trialLimits.findOne({ _id: 'places' }))!.leases!.at(-1)!;
      expect(taken.expires.getTime() - QUICK.leaseMs!).to.be.at.least(
        leases![0]!.expires.getTime(),
      );
      expect(await places()).to.be.at.most(2);
    });

    it('end the render whose place is gone', async () => {
      const leases = await replica(QUICK);
      const lease = await leases.admit(caller('198.51.100.1'));
      await fixture.store.trialLimits.deleteOne({ _id: 'places' });
      await eventually(() => expect(lease.lost.aborted).to.equal(true));
      expect(lease.lost.reason).to.include({ code: 'render_failed', reason: 'database' });
    });

    it('are given back once, by settling as by releasing, and nothing is counted', async () => {
      const leases = await replica();
      const [one, two] = [
        await leases.admit(caller('198.51.100.1')),
        await leases.admit(caller('198.51.100.2')),
      ];
      expect(await leases.settle(one)).to.equal(undefined);
      await leases.release(one);
      expect(await places()).to.equal(1);
      await leases.release(two);
      expect(await places()).to.equal(0);
    });
  });

  describe('when MongoDB', () => {
    it('cannot be asked, refuse with render_failed and its reason', async () => {
      const leases = await replica();
      await fixture.failCommands('findAndModify', { errorCode: 11602 });
      expect(await rejectionOf(leases.admit(caller('198.51.100.7')))).to.include({
        code: 'render_failed',
        reason: 'database',
      });
    });

    it('does not take a place back, leave it to expire', async () => {
      const leases = await replica(QUICK);
      const lease = await leases.admit(caller('198.51.100.1'));
      await fixture.failCommands('update', { errorCode: 11602 });
      await leases.release(lease);
      await fixture.clearFailPoints();
      expect(await places()).to.equal(1);
      const more = await replica(QUICK, fixture.store, { slots: () => 1 });
      let nth = 10;
      await eventually(async () =>
        expect(await code(more.admit(caller(`198.51.100.${nth++}`)))).to.equal('ok'),
      );
    });

    it('has its answers lost, count a call once and take one place', async () => {
      const link = await openLink(fixture.mongod.port, 'mongodb');
      const uri = fixture.uriThrough(link.port);
      const store = connectStore({ uri, operationTimeoutMs: 3_000 }, silentLog);
      try {
        await store.start();
        const leases = await replica({}, store);
        // In the first admission the answer to the count is lost, in the second the answer to what
        // takes the place.
        for (const which of [0, 1]) {
          let seen = 0;
          const lost = link.onFrame({
            direction: 'down',
            matches: (_, { before }) =>
              !!before && commandOf(before) === 'findAndModify' && seen++ === which,
            do: 'cut',
          });
          await leases.admit(caller('198.51.100.7'));
          expect(lost.hits()).to.equal(1);
        }
        expect((await clients())[0]!.calls).to.have.length(2);
        expect(await places()).to.equal(2);
      } finally {
        await store.stop(AbortSignal.timeout(1_000));
        await link.close();
      }
    });
  });
});
