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

describe('trial leases', () => {
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

  /** The trial leases of one API process. */
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
  /** A call whose render ends immediately. */
  const call = async (leases: Leases<TrialCaller>, client: string) =>
    leases.release(await leases.admit(caller(client)));
  const code = (work: Promise<unknown>) =>
    work.then(
      () => 'ok',
      (error: ApiError) => error.code,
    );
  const clients = () => fixture.store.trialLimits.find({ calls: { $exists: true } }).toArray();
  const slotsTaken = async () =>
    (await fixture.store.trialLimits.findOne({ _id: 'places' }))?.leases?.length;
  /** Makes the calls of all clients `ms` older, from the call with index `which` on. */
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

  describe('calls of one client', () => {
    it('are limited to five per minute across processes, and the sixth gets Retry-After', async () => {
      const [one, two] = [await replica(), await replica()];
      for (let nth = 0; nth < 5; nth++) await call(nth % 2 ? one : two, '198.51.100.7');
      for (const leases of [one, two]) {
        const rejected = await rejectionOf(leases.admit(caller('198.51.100.7')));
        expect(rejected).to.deep.include({
          code: 'rate_limited',
          status: 429,
          headers: { 'Retry-After': '60' },
        });
      }
      expect(await code(call(one, '198.51.100.8'))).to.equal('ok');
    });

    it('are limited to five when they reach ten fresh processes at the same time', async () => {
      const ten = await Promise.all(Array.from({ length: 10 }, () => replica()));
      for (let round = 0; round < 4; round++)
        await Promise.all(ten.map(leases => code(call(leases, '198.51.100.7'))));
      const [client] = await clients();
      expect(client!.calls).to.have.length(5);
    });

    it('are allowed again one by one when earlier calls are a minute old', async () => {
      const leases = await replica();
      for (let nth = 0; nth < 5; nth++) await call(leases, '198.51.100.7');
      await age(59_000);
      const soon = await replica(); // has nothing cached
      expect(await code(call(soon, '198.51.100.7'))).to.equal('rate_limited');
      await age(-59_000, 2); // three of them are new again
      await age(1_000);
      expect(await code(call(soon, '198.51.100.7'))).to.equal('ok');
      expect(await code(call(soon, '198.51.100.7'))).to.equal('ok');
      expect(await code(call(soon, '198.51.100.7'))).to.equal('rate_limited');
    });

    it('are rejected from the cache only until the next call is allowed', async () => {
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

    it('change nothing in the database when they are rejected', async () => {
      const leases = await replica();
      for (let nth = 0; nth < 5; nth++) await call(leases, '198.51.100.7');
      const before = await clients();
      await rejectionOf(leases.admit(caller('198.51.100.7')));
      expect(await clients()).to.deep.equal(before);
    });

    it('are counted also when no trial slot is free', async () => {
      const [one, two] = [await replica(), await replica()];
      await one.admit(caller('198.51.100.1'));
      await one.admit(caller('198.51.100.1'));
      for (let nth = 0; nth < 5; nth++)
        expect((await rejectionOf(two.admit(caller('198.51.100.7')))).message).to.match(/slots/);
      expect((await rejectionOf(two.admit(caller('198.51.100.7')))).message).to.match(
        /limit reached/,
      );
    });

    it('are stored without the address and expire by a TTL index', async () => {
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

    it('are counted separately under another pepper', async () => {
      await call(await replica(), '198.51.100.7');
      await call(
        await replica({}, fixture.store, { pepper: 'another pepper of sixteen' }),
        '198.51.100.7',
      );
      expect(await clients()).to.have.length(2);
    });
  });

  describe('slots of the installation', () => {
    it('are two across all processes, and the third call gets Retry-After', async () => {
      const [one, two] = [await replica(), await replica()];
      const first = await one.admit(caller('198.51.100.1'));
      await two.admit(caller('198.51.100.2'));
      for (const [nth, leases] of [one, two].entries()) {
        const rejected = await rejectionOf(leases.admit(caller(`198.51.100.${nth + 10}`)));
        expect(rejected).to.deep.include({
          code: 'rate_limited',
          status: 429,
          headers: { 'Retry-After': '60' },
        });
      }
      await one.release(first);
      expect(await code(two.admit(caller('198.51.100.3')))).to.equal('ok');
    });

    it('are two when calls reach ten processes at the same time', async () => {
      const ten = await Promise.all(Array.from({ length: 10 }, () => replica()));
      const ends = await Promise.all(
        ten.map((leases, nth) => code(leases.admit(caller(`198.51.100.${nth}`)))),
      );
      expect(ends.filter(end => end === 'ok')).to.have.length(2);
      expect(await slotsTaken()).to.equal(2);
    });

    it('are requested from the database by at most as many calls of one process', async () => {
      const leases = await replica();
      const ends = await Promise.all(
        Array.from({ length: 40 }, (_, nth) => code(leases.admit(caller(`198.51.100.${nth}`)))),
      );
      expect(ends.filter(end => end === 'ok')).to.have.length(2);
      expect(await clients()).to.have.length(2);
    });

    it('are at most a quarter of the worker slots known to the process', async () => {
      const leases = await replica({}, fixture.store, { slots: () => 7 });
      await leases.admit(caller('198.51.100.1'));
      expect(await code(leases.admit(caller('198.51.100.2')))).to.equal('rate_limited');
    });

    it('reject calls before their body is read while this process uses all of them', async () => {
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

    it('notify the admission when all are in use and when one is released', async () => {
      const calls: string[] = [];
      const admission = {
        ...createTrialAdmission(LIMIT),
        full: () => void calls.push('full'),
        freed: () => void calls.push('freed'),
      };
      const leases = await replica({}, fixture.store, { admission });
      const other = await replica();
      const [lease] = [
        await leases.admit(caller('198.51.100.1')),
        await other.admit(caller('198.51.100.2')),
      ];
      await rejectionOf(leases.admit(caller('198.51.100.3')));
      await leases.release(lease);
      expect(calls).to.deep.equal(['full', 'freed']);
    });

    it('stay in use until their render ends', async () => {
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

    it('become free when the leases of a dead process expire, and not earlier', async () => {
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
      expect(await slotsTaken()).to.be.at.most(2);
    });

    it('abort the render whose lease is gone', async () => {
      const leases = await replica(QUICK);
      const lease = await leases.admit(caller('198.51.100.1'));
      await fixture.store.trialLimits.deleteOne({ _id: 'places' });
      await eventually(() => expect(lease.lost.aborted).to.equal(true));
      expect(lease.lost.reason).to.include({ code: 'render_failed', reason: 'database' });
    });

    it('are released once, by settling or releasing, and nothing is counted', async () => {
      const leases = await replica();
      const [one, two] = [
        await leases.admit(caller('198.51.100.1')),
        await leases.admit(caller('198.51.100.2')),
      ];
      expect(await leases.settle(one)).to.equal(undefined);
      await leases.release(one);
      expect(await slotsTaken()).to.equal(1);
      await leases.release(two);
      expect(await slotsTaken()).to.equal(0);
    });
  });

  describe('with a failing MongoDB', () => {
    it('reject calls with render_failed and the reason', async () => {
      const leases = await replica();
      await fixture.failCommands('findAndModify', { errorCode: 11602 });
      expect(await rejectionOf(leases.admit(caller('198.51.100.7')))).to.include({
        code: 'render_failed',
        reason: 'database',
      });
    });

    it('expire when they cannot be released', async () => {
      const leases = await replica(QUICK);
      const lease = await leases.admit(caller('198.51.100.1'));
      await fixture.failCommands('update', { errorCode: 11602 });
      await leases.release(lease);
      await fixture.clearFailPoints();
      expect(await slotsTaken()).to.equal(1);
      const more = await replica(QUICK, fixture.store, { slots: () => 1 });
      let nth = 10;
      await eventually(async () =>
        expect(await code(more.admit(caller(`198.51.100.${nth++}`)))).to.equal('ok'),
      );
    });

    it('count a call once and take one slot when answers are lost', async () => {
      const link = await openLink(fixture.mongod.port, 'mongodb');
      const uri = fixture.uriThrough(link.port);
      const store = connectStore({ uri, operationTimeoutMs: 3_000 }, silentLog);
      try {
        await store.start();
        const leases = await replica({}, store);
        // The first admission loses the answer to the count, the second the answer that takes the
        // slot.
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
        expect(await slotsTaken()).to.equal(2);
      } finally {
        await store.stop(AbortSignal.timeout(1_000));
        await link.close();
      }
    });
  });
});
