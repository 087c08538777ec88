import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { Document } from 'mongodb';
import type { Lease } from '../../api/accounts/leases.ts';
import type { LeaseTimes, MongoLeases } from '../../api/accounts/mongo-leases.ts';
import { connectStore, type Store } from '../../api/store/store.ts';
import { silentLog } from '../../common/log.ts';
import { commandOf, documentOf } from '../fault/harness/frames.ts';
import { type Link, openLink } from '../fault/harness/link.ts';
import { freeze, thaw } from '../support/freeze.ts';
import { type LeaseRig, leaseRig, refusal, type TestAccount, until } from '../support/lease-rig.ts';

/** So that no renewal is among the writes. */
const UNRENEWED: Partial<LeaseTimes> = { renewEveryMs: 60_000 };
const LIMIT_MS = 700;

describe('admissions that come at once', () => {
  let rig: LeaseRig;
  let link: Link;
  let store: Store;
  let leases: MongoLeases;
  /** The updates of leases in each command, and the admissions by the whole rules. */
  let together: number[] = [];
  let whole = 0;
  before(async () => {
    rig = await leaseRig();
    link = await openLink(rig.mongod.port, 'mongodb');
    store = connectStore({ uri: rig.uriThrough(link.port), operationTimeoutMs: LIMIT_MS }, silentLog);
    await store.start();
  });
  beforeEach(async () => {
    leases = await rig.replica(UNRENEWED, store);
    link.onFrame({
      direction: 'up',
      matches: frame => {
        if (isUpdate(frame)) together.push(updatesIn(frame).length);
        if (commandOf(frame) === 'findAndModify') whole += 1;
        return false;
      },
      do: 'cut',
    });
  });
  afterEach(() => {
    link.heal();
    return rig.reset();
  });
  after(async () => {
    await store?.stop(new AbortController().signal);
    await link?.close();
    await rig?.close();
  });

  const isUpdate = (frame: Buffer | undefined) => !!frame && commandOf(frame) === 'update';
  const updatesIn = (frame: Buffer): Document[] => documentOf(frame)['updates'];
  /** The command that the admissions share when more come at once than go alone. */
  const isShared = (frame: Buffer | undefined) => isUpdate(frame) && updatesIn(frame!).length > 1;

  /** An account that the short way has found by each of its callers. */
  async function known(plan: string): Promise<TestAccount> {
    const account = await rig.account(plan);
    for (let nth = 0; nth < 2; nth++) await leases.release(await leases.admit(account.caller));
    return account;
  }
  const knownOnes = (count: number, plan = 'scale') => Promise.all(Array.from({ length: count }, () => known(plan)));

  const countAnew = () => {
    together = [];
    whole = 0;
  };

  /** So many admissions of each, in turn, all in one go. */
  const admitAtOnce = (accounts: TestAccount[], each: number) => {
    countAnew();
    return Promise.allSettled(
      Array.from({ length: each * accounts.length }, (_, nth) => leases.admit(accounts[nth % accounts.length]!.caller)),
    );
  };
  const admitted = (ends: PromiseSettledResult<Lease>[]) => ends.flatMap(end => (end.status === 'fulfilled' ? [end.value] : []));
  const refused = (ends: PromiseSettledResult<Lease>[]) => ends.flatMap(end => (end.status === 'rejected' ? [end.reason] : []));
  const idsIn = async ({ read }: TestAccount) => (await read()).leases.map(({ id }) => id).toSorted();
  /** Each account has these leases and no other. */
  async function expectLeases(accounts: TestAccount[], expected: Lease[]): Promise<void> {
    for (const account of accounts) {
      const own = expected.filter(({ accountId }) => accountId === account.id).map(({ id }) => id);
      expect(await idsIn(account)).to.deep.equal(own.toSorted());
    }
  }
  const allFree = (accounts: TestAccount[]) =>
    until(async () => {
      const counts = await Promise.all(accounts.map(({ leaseCount }) => leaseCount()));
      return leases.counts().waiting === 0 && counts.every(count => count === 0);
    });

  it('share commands, and each has its own lease', async () => {
    const accounts = await knownOnes(10);
    const ends = await admitAtOnce(accounts, 8);
    expect(together).to.deep.equal([1, 1, 1, 1, 32, 32, 12]);
    expect(whole).to.equal(0);
    expect(refused(ends)).to.deep.equal([]);
    await expectLeases(accounts, admitted(ends));
    await Promise.all(admitted(ends).map(lease => leases.settle(lease)));
    for (const account of accounts) expect(await account.usage()).to.equal(8);
  });

  it('go alone when one follows the other', async () => {
    const [scale] = await knownOnes(1);
    countAnew();
    for (let nth = 0; nth < 5; nth++) await leases.admit(scale!.caller);
    expect(together).to.deep.equal([1, 1, 1, 1, 1]);
  });

  it('never lead to more than the plan allows, though they are of one account and in one command', async () => {
    const growth = await known('growth');
    const [other] = await knownOnes(1);
    // Takes the places of commands that leave at once, so that all of the account's wait for the shared one.
    const before = Array.from({ length: 4 }, () => leases.admit(other!.caller));
    const ends = await admitAtOnce([growth], 32);
    await Promise.all(before);
    expect(together).to.include(32);
    expect(admitted(ends)).to.have.length(4);
    expect(new Set(refused(ends).map(({ code }) => code))).to.deep.equal(new Set(['concurrency_limit']));
    await expectLeases([growth], admitted(ends));
  });

  describe('when one of them cannot be admitted', () => {
    const set = ({ id }: TestAccount, fields: Document) => rig.store.accounts.updateOne({ _id: id }, { $set: fields });
    const CASES: Record<string, { to: Document; code: string }> = {
      'because it is paused': { to: { state: 'paused' }, code: 'subscription_inactive' },
      'because its key is revoked': { to: { keys: [] }, code: 'unauthorized' },
      'because MongoDB says no to its update': { to: { leases: 'broken' }, code: 'render_failed' },
    };
    for (const [why, { to, code }] of Object.entries(CASES)) {
      it(`are admitted all the same, once each, ${why}`, async () => {
        const [odd, ...others] = await knownOnes(11);
        await set(odd!, to);
        const ends = await admitAtOnce([...others, odd!], 1);
        expect(together[4]).to.equal(7);
        expect(whole, 'all of that command, by the whole rules').to.equal(7);
        expect(refused(ends).map(error => error.code)).to.deep.equal([code]);
        await expectLeases(others, admitted(ends));
      });
    }

    it('pay for it once: it shares again only when it was found alone', async () => {
      const accounts = await knownOnes(11);
      const odd = accounts.at(-1)!;
      await set(odd, { state: 'past_due', pastDueSince: new Date() });
      await admitAtOnce(accounts, 1);
      await set(odd, { state: 'active' });
      const shared = async () => {
        countAnew();
        const ends = await admitAtOnce(accounts, 1);
        expect(refused(ends)).to.deep.equal([]);
        return { sizes: together.toSorted((a, b) => b - a), whole };
      };
      // Those that were in the command with it go alone once, and it by the whole rules.
      expect(await shared()).to.deep.equal({ sizes: [1, 1, 1, 1, 1, 1, 1, 1, 1, 1], whole: 1 });
      // Now it goes alone, and finds nothing again.
      await set(odd, { intranet: true });
      expect(await shared()).to.deep.equal({ sizes: [6, 1, 1, 1, 1, 1], whole: 1 });
      expect(await shared()).to.deep.equal({ sizes: [6, 1, 1, 1, 1, 1], whole: 0 });
      expect(await shared()).to.deep.equal({ sizes: [7, 1, 1, 1, 1], whole: 0 });
    });

    it('pay for it once also when the whole rules cannot decide on it', async () => {
      const [odd, ...others] = await knownOnes(11);
      await set(odd!, { leases: 'broken' });
      for (const accounts of [[...others, odd!], others, [...others, odd!]]) await admitAtOnce(accounts, 1);
      // What was refused is released in the background, alone.
      expect({ shared: together.filter(size => size > 1), whole }).to.deep.equal({ shared: [6], whole: 1 });
    });

    it('are refused with it once when its document is held up, and then it is alone', async () => {
      const [odd, ...others] = await knownOnes(11);
      await rig.heldUp(odd!.id, async () => {
        expect(refused(await admitAtOnce([...others, odd!], 1))).to.have.length(7);
        await until(() => leases.counts().waiting === 0);
        const ends = await admitAtOnce([...others, odd!], 1);
        expect(refused(ends).map(({ reason }) => reason)).to.deep.equal(['database']);
        expect(ends.at(-1)!.status).to.equal('rejected');
      });
    });
  });

  describe('with a failing database', () => {
    const loseOn = (direction: 'up' | 'down') =>
      link.onFrame({ direction, matches: (frame, { before }) => isShared(direction === 'up' ? frame : before), do: 'cut', times: 1 });
    const MISHAPS: Record<string, () => Promise<unknown>> = {
      'the connection breaks before': async () => loseOn('up'),
      'the answer is lost': async () => loseOn('down'),
      'the server is no primary any more': () => rig.failing('update', { errorCode: 10107 }),
      'a majority may not have it': () => rig.failing('update', { writeConcernError: { code: 11602, errmsg: 'stepping down' } }),
    };
    for (const [mishap, happen] of Object.entries(MISHAPS)) {
      it(`are admitted once each when ${mishap}`, async () => {
        const accounts = await knownOnes(6);
        await happen();
        const ends = await admitAtOnce(accounts, 3);
        expect(together.slice(0, 5)).to.deep.equal([1, 1, 1, 1, 14]);
        expect(whole).to.be.at.least(14);
        expect(refused(ends)).to.deep.equal([]);
        await expectLeases(accounts, admitted(ends));
      });
    }

    for (const [words, failure] of Object.entries({
      'the server says no': { errorCode: 1 },
      'a majority is late': { writeConcernError: { code: 64, errmsg: 'timed out' } },
    })) {
      it(`are refused and hold no place when ${words}`, async () => {
        const accounts = await knownOnes(6);
        await rig.failing('update', failure);
        const ends = await admitAtOnce(accounts, 3);
        expect(refused(ends).map(({ reason }) => reason)).to.deep.equal(Array.from({ length: 18 }, () => 'database'));
        await rig.working();
        await allFree(accounts);
      });
    }

    it('do not wait for those whose connections are silent, who are refused in time and hold no place', async () => {
      const [silent, ...others] = await knownOnes(4);
      const lost = link.onFrame({
        direction: 'down',
        matches: (_, { before }) => isUpdate(before) && updatesIn(before!)[0]!['q']._id === silent!.id,
        do: 'swallow',
        times: 4,
      });
      const began = performance.now();
      const hanging = Array.from({ length: 4 }, () => refusal(leases.admit(silent!.caller)));
      await until(() => lost.hits() === 4);
      const ends = await admitAtOnce(others, 4);
      const tookMs = performance.now() - began;
      expect(refused(ends)).to.deep.equal([]);
      expect(tookMs).to.be.below(LIMIT_MS);
      expect(await silent!.leaseCount()).to.equal(4);
      for (const { reason } of await Promise.all(hanging)) expect(reason).to.equal('database');
      expect(performance.now() - began).to.be.below(2 * LIMIT_MS);
      await allFree([silent!]);
      await expectLeases(others, admitted(ends));
    });

    it('are refused in time while the server is frozen, and hold no place when it wakes up', async () => {
      const accounts = await knownOnes(6);
      await freeze(rig.mongod.pid);
      try {
        const began = performance.now();
        const ends = await admitAtOnce(accounts, 6);
        expect(performance.now() - began).to.be.below(2 * LIMIT_MS);
        expect(refused(ends).map(({ reason }) => reason)).to.deep.equal(Array.from({ length: 36 }, () => 'database'));
        // The driver has given up both attempts by then; the server does them all the same.
        await sleep(4_000);
      } finally {
        thaw(rig.mongod.pid);
      }
      await allFree(accounts);
    });

    it('hold no place when they left after their callers had given up, since the process stood still', async () => {
      const accounts = await knownOnes(3);
      const taken: number[] = [];
      link.onFrame({ direction: 'up', matches: frame => isShared(frame) && taken.push(1) < 0, do: 'cut' });
      const calls = admitAtOnce(accounts, 3);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LIMIT_MS + 100);
      expect(refused(await calls).map(({ reason }) => reason)).to.deep.equal(Array.from({ length: 9 }, () => 'database'));
      await until(() => taken.length === 1);
      await allFree(accounts);
    });
  });
});
