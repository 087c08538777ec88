// The render log when MongoDB stalls or responses are lost, when entries arrive faster than they are
// written, and at shutdown.
import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { beginEntry } from '../../../api/history/render-entry.ts';
import { MAX_WAITING_RECORDS, RenderLog } from '../../../api/history/render-log.ts';
import type { State } from '../../../api/http/state.ts';
import { connectStore, type Store } from '../../../api/store/store.ts';
import { renderFailed } from '../../../common/contract/errors.ts';
import { silentLog } from '../../../common/log.ts';
import { createMetrics } from '../../../common/operations.ts';
import { commandOf } from '../../fault/harness/frames.ts';
import { type Link, openLink } from '../../fault/harness/link.ts';
import { eventually } from '../../support/eventually.ts';
import { freeze, thaw } from '../../support/freeze.ts';
import { type LeaseFixture, leaseFixture } from '../../support/lease-fixture.ts';

const never = new AbortController().signal;

describe('the render log during failures', () => {
  let fixture: LeaseFixture;
  let link: Link;
  let linked: Store;
  let account: string;
  const logs: RenderLog[] = [];
  before(async () => {
    fixture = await leaseFixture();
    link = await openLink(fixture.mongod.port, 'mongodb');
    const uri = fixture.uriThrough(link.port);
    linked = connectStore({ uri, operationTimeoutMs: 700 }, silentLog);
    await linked.start();
  });
  beforeEach(() => {
    account = randomUUID().slice(0, 10);
  });
  afterEach(async () => {
    link.heal();
    for (const log of logs.splice(0)) await log.stop(AbortSignal.abort());
    await fixture.reset();
  });
  after(async () => {
    await linked?.stop(never);
    await link?.close();
    await fixture?.close();
  });

  async function opened(flushEveryMs = 30, store = fixture.store) {
    const metrics = createMetrics({ processDefaults: false });
    const log = new RenderLog(store, fixture.log, metrics, { flushEveryMs });
    await log.start();
    logs.push(log);
    return { log, metrics };
  }

  const entryOf = (key: string) => {
    const state = { requestId: randomUUID(), startMs: performance.now() };
    return Object.assign(beginEntry({ state: state as State }), { who: { account, key } });
  };
  const good = (log: RenderLog, key = 'k') => {
    const entry = entryOf(key);
    return log.logged(entry, 'api', async () => {
      Object.assign(entry.trace, { timings: { load: 1 }, pages: 1, bytes: 10 });
    });
  };
  const rejected = (log: RenderLog, key = 'k') =>
    log
      .logged(entryOf(key), 'api', async () => {
        throw renderFailed('queue_full', 'Too many.');
      })
      .catch(() => {});

  const rows = () => fixture.store.console.renders.countDocuments({ account });
  const sums = async () => {
    const days = await fixture.store.console.usageDays.find({ '_id.account': account }).toArray();
    const sum = (field: 'ok' | 'failed') => days.reduce((all, day) => all + day[field], 0);
    const timed = days
      .flatMap(({ durations = {} }) => Object.values(durations))
      .reduce((all, count) => all + count, 0);
    return { ok: sum('ok'), failed: sum('failed'), timed };
  };

  it('is complete and without duplicates after MongoDB stalled', async () => {
    const { log } = await opened();
    await good(log);
    await eventually(async () => expect(await sums()).to.include({ ok: 1 }));
    await freeze(fixture.mongod.pid);
    try {
      for (let i = 0; i < 20; i++) await good(log);
      await eventually(() =>
        expect(fixture.lines.map(({ msg }) => msg)).to.include(
          'the render log cannot be written, retrying',
        ),
      );
      for (let i = 0; i < 20; i++) await good(log);
    } finally {
      thaw(fixture.mongod.pid);
    }
    await eventually(async () => expect(await rows()).to.equal(41));
    await eventually(async () =>
      expect(await sums()).to.deep.equal({ ok: 41, failed: 0, timed: 41 }),
    );
    await eventually(() =>
      expect(fixture.lines.map(({ msg }) => msg)).to.include(
        'writes to the render log have recovered',
      ),
    );
  });

  for (const command of ['insert', 'update'])
    it(`counts an entry once when the responses to \`${command}\` are lost`, async () => {
      const { log } = await opened(1e6, linked);
      for (let i = 0; i < 5; i++) await good(log);
      const lost = link.onFrame({
        direction: 'down',
        matches: (_, { before }) => !!before && commandOf(before) === command,
        do: 'cut',
        times: 2,
      });
      await log.stop(never);
      logs.length = 0;
      expect(lost.hits()).to.equal(2);
      expect(await rows()).to.equal(5);
      expect(await sums()).to.deep.equal({ ok: 5, failed: 0, timed: 5 });
    });

  it('adds up concurrent writes of several processes for one day and key', async () => {
    const { log: one } = await opened(1e6);
    const { log: other } = await opened(1e6);
    const { log: third } = await opened(1e6);
    for (let i = 0; i < 10; i++) for (const log of [one, other, third]) await good(log);
    await Promise.all([one, other, third].map(log => log.stop(never)));
    logs.length = 0;
    expect(await rows()).to.equal(30);
    expect(await sums()).to.deep.equal({ ok: 30, failed: 0, timed: 30 });
  });

  it('stores a few records of many errors in a second, and counts all of them', async () => {
    const { log } = await opened(1e6);
    const start = performance.now();
    for (let i = 0; i < 2_000; i++) await rejected(log);
    const seconds = Math.ceil((performance.now() - start) / 1_000) + 1;
    await log.stop(never);
    logs.length = 0;
    expect(await rows()).to.be.within(11, 10 * seconds + 1);
    const [{ total } = {}] = await fixture.store.console.renders
      .aggregate<{ total: number }>([
        { $match: { account } },
        { $group: { _id: null, total: { $sum: { $ifNull: ['$times', 1] } } } },
      ])
      .toArray();
    expect(total).to.equal(2_000);
    expect(await sums()).to.include({ failed: 2_000 });
  });

  it('writes the errors that were counted together with a batch that is full', async () => {
    const { log } = await opened(1e6);
    for (let nth = 0; nth < 20; nth++) await rejected(log, `key ${nth}`);
    for (let nth = 0; nth < 490; nth++) await good(log);
    await eventually(async () => expect(await rows()).to.equal(510));
    expect(fixture.lines.map(({ msg }) => msg)).to.not.include(
      'the render log cannot be written, retrying',
    );
  });

  it('drops the oldest entries when too many are pending, and logs it', async () => {
    const { log, metrics } = await opened(1e6);
    await freeze(fixture.mongod.pid);
    try {
      for (let i = 0; i < MAX_WAITING_RECORDS + 30; i++) await good(log);
      expect(await metrics.text()).to.match(/pressroom_render_log_dropped_total 30\b/);
      await eventually(() =>
        expect(
          fixture.lines.find(({ msg }) => msg === 'renders are missing from the render log'),
        ).to.include({ lost: 30 }),
      );
    } finally {
      thaw(fixture.mongod.pid);
    }
    await log.stop(never);
    logs.length = 0;
    // Writes that were in flight when they were aborted may have succeeded.
    expect(await rows()).to.be.within(MAX_WAITING_RECORDS, MAX_WAITING_RECORDS + 30);
  });

  it('does not delay a render while MongoDB stalls', async () => {
    const { log } = await opened(5);
    await freeze(fixture.mongod.pid);
    try {
      const start = performance.now();
      for (let i = 0; i < 100; i++) await good(log);
      // Each write would take its time limit of 700 ms.
      expect(performance.now() - start).to.be.below(10_000);
    } finally {
      thaw(fixture.mongod.pid);
    }
  });

  it('writes pending entries at shutdown', async () => {
    const { log } = await opened(1e6);
    for (let i = 0; i < 7; i++) await good(log);
    expect(await rows()).to.equal(0);
    await log.stop(never);
    logs.length = 0;
    expect(await rows()).to.equal(7);
  });

  it('does not delay the shutdown beyond its limit', async () => {
    const { log } = await opened(1e6);
    await good(log);
    await freeze(fixture.mongod.pid);
    try {
      const deadline = new AbortController();
      const stopped = log.stop(deadline.signal);
      logs.length = 0;
      deadline.abort();
      await stopped;
      expect(
        fixture.lines.find(
          ({ msg, lost }) => msg === 'renders are missing from the render log' && lost === 1,
        ),
      ).to.not.equal(undefined);
    } finally {
      thaw(fixture.mongod.pid);
    }
  });
});
