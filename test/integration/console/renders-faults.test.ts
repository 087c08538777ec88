// The log of renders when MongoDB stands still or loses answers, when more comes than is written,
// and at the end of a process.
import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { MAX_WAITING_RECORDS, RenderLog } from '../../../api/history/render-log.ts';
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

describe('the log of renders in trouble', () => {
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

  const good = (log: RenderLog, key = 'k') =>
    log.logged(randomUUID(), 'api', async entry => {
      entry.who = { account, key };
      Object.assign(entry.trace, { timings: { load: 1 }, pages: 1, bytes: 10 });
    });
  const refused = (log: RenderLog) =>
    log
      .logged(randomUUID(), 'api', async entry => {
        entry.who = { account, key: 'k' };
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

  it('is whole, and nothing in it is twice, after MongoDB has stood still', async () => {
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
    it(`counts once what was written when the answer to \`${command}\` is lost, also to the driver's second try`, async () => {
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

  it('adds up what several processes write of one day and key at once', async () => {
    const { log: one } = await opened(1e6);
    const { log: other } = await opened(1e6);
    const { log: third } = await opened(1e6);
    for (let i = 0; i < 10; i++) for (const log of [one, other, third]) await good(log);
    await Promise.all([one, other, third].map(log => log.stop(never)));
    logs.length = 0;
    expect(await rows()).to.equal(30);
    expect(await sums()).to.deep.equal({ ok: 30, failed: 0, timed: 30 });
  });

  it('keeps a few lines of a flood of refusals, and counts all of them', async () => {
    const { log } = await opened(1e6);
    const start = performance.now();
    for (let i = 0; i < 2_000; i++) await refused(log);
    const seconds = Math.ceil((performance.now() - start) / 1_000) + 1;
    await log.stop(never);
    logs.length = 0;
    expect(await rows()).to.be.within(10, 10 * seconds);
    expect(await sums()).to.include({ failed: 2_000 });
  });

  it('lets the oldest go when too many wait, and says so', async () => {
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
    // Those that were on their way when they were given up may be there all the same.
    expect(await rows()).to.be.within(MAX_WAITING_RECORDS, MAX_WAITING_RECORDS + 30);
  });

  it('takes no time from a render while MongoDB stands still', async () => {
    const { log } = await opened(5);
    await freeze(fixture.mongod.pid);
    try {
      const start = performance.now();
      for (let i = 0; i < 100; i++) await good(log);
      // A write would take its time limit of 700 ms.
      expect(performance.now() - start).to.be.below(500);
    } finally {
      thaw(fixture.mongod.pid);
    }
  });

  it('writes the rest when the process ends', async () => {
    const { log } = await opened(1e6);
    for (let i = 0; i < 7; i++) await good(log);
    expect(await rows()).to.equal(0);
    await log.stop(never);
    logs.length = 0;
    expect(await rows()).to.equal(7);
  });

  it('does not hold up the end of a process for longer than it may', async () => {
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
