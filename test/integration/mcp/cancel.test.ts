// @proves POST /mcp
// A client of the 2025 revisions cancels by a message of its own, which any of the API processes
// may get.
import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { createCancellations } from '../../../api/console/mcp/cancellations.ts';
import { NoPrimary, type Store } from '../../../api/store/store.ts';
import { silentLog } from '../../../common/log.ts';
import {
  type ConsoleFixture,
  consoleFixture,
  type Person,
} from '../../support/console/console-fixture.ts';
import { earlierMessage, mcpCall, notification, replyOf } from '../../support/console/mcp-call.ts';
import { authorizeApp } from '../../support/console/oauth-flow.ts';
import { callsCounted } from '../../support/counted.ts';
import { eventually } from '../../support/eventually.ts';

const ENDLESS = { html: '<p>long</p>', wait_for_expression: 'false' };
const call = (id: string | number, given: object = ENDLESS) =>
  earlierMessage('tools/call', { name: 'render_pdf', arguments: given }, id);
const cancel = (requestId: string | number) =>
  notification('notifications/cancelled', { requestId });

describe('a cancellation by a message', () => {
  let fixture: ConsoleFixture;
  let replica: ConsoleFixture;
  let developer: Person;
  let token: string;
  before(async () => {
    fixture = await consoleFixture();
    replica = await consoleFixture({ uri: fixture.uri, workers: 0 });
    developer = await fixture.person({ role: 'developer' });
    token = (await authorizeApp(fixture, developer)).access_token;
  });
  after(async () => {
    await replica?.stop();
    await fixture.stop();
  });
  afterEach(async () => {
    await fixture.worker.until({ busy: 0 });
    await eventually(async () => expect(await fixture.running()).to.equal(0));
  });

  const session = () => ({ 'mcp-session-id': randomUUID() });

  it('stops the render that another process runs, and frees its place', async () => {
    const of = session();
    const running = mcpCall(fixture, token, call(7), of);
    await fixture.worker.until({ busy: 1 });
    const answer = await mcpCall(replica, token, cancel(7), of);
    expect([answer.status, answer.body.length]).to.deep.equal([202, 0]);
    expect(replyOf(await running).result!.content[0]!.text).to.equal('The call was cancelled.');
  });

  it('stops a call that comes after it, by whichever process', async () => {
    for (const hearing of [replica, fixture]) {
      const of = session();
      expect((await mcpCall(hearing, token, cancel('a'), of)).status).to.equal(202);
      const reply = replyOf(await mcpCall(fixture, token, call('a'), of));
      expect(reply.result!.content[0]!.text).to.equal('The call was cancelled.');
    }
  });

  it('stops nothing of another app, of another session, or of another message', async () => {
    const of = session();
    const other = (await authorizeApp(fixture, developer)).access_token;
    const running = mcpCall(
      fixture,
      token,
      call(1, { html: 'x', wait_delay: '3s', sandbox: true }),
      of,
    );
    await fixture.worker.until({ busy: 1 });
    for (const [by, message, whose] of [
      [other, cancel(1), of],
      [token, cancel(1), session()],
      [token, cancel('1'), of],
      [token, cancel(1), {}],
    ] as const)
      for (const hearing of [replica, fixture])
        expect((await mcpCall(hearing, by, message, whose)).status).to.equal(202);
    expect(replyOf(await running).result!.content[0]!.text).to.include('The PDF is ready');
  });

  it('is counted and logged as a caller who went away', async () => {
    const of = session();
    const counted = () => callsCounted(fixture, '/mcp', 'client_closed');
    const before = await counted();
    const running = mcpCall(fixture, token, call(1), of);
    await fixture.worker.until({ busy: 1 });
    await mcpCall(fixture, token, cancel(1), of);
    const { headers } = await running;
    expect(await counted()).to.equal(before + 1);
    await eventually(async () =>
      expect(
        await fixture.store.console.renders.findOne({ _id: headers['x-request-id']! }),
      ).to.include({ outcome: 'client_closed' }),
    );
  });

  it('keeps few for each app, for a minute, and no word of the client', async () => {
    const of = { 'mcp-session-id': 'a session' };
    const mine = (await authorizeApp(fixture, developer)).access_token;
    const before = new Set(
      (await fixture.store.console.cancelledCalls.find().toArray()).map(({ _id }) => _id),
    );
    for (let id = 0; id < 60; id++) await mcpCall(replica, mine, cancel(id), of);
    const kept = (await fixture.store.console.cancelledCalls.find().toArray()).filter(
      ({ _id }) => !before.has(_id),
    );
    expect(kept.map(({ calls }) => calls.length)).to.deep.equal([50]);
    expect(JSON.stringify(kept)).to.not.include('a session');
    expect(kept[0]!.expiresAt.getTime()).to.be.at.most(Date.now() + 60_000);
    const ends = (await fixture.store.console.cancelledCalls.indexes()).filter(
      ({ expireAfterSeconds }) => expireAfterSeconds === 0,
    );
    expect(ends.map(({ key }) => key)).to.deep.equal([{ expiresAt: 1 }]);
  });

  describe('between processes', () => {
    const reason = new Error('cancelled');
    /** One process's, on the fixture's database; `asked`: how often it has looked. */
    function cancellations(throwIfMissing = () => {}) {
      let asked = 0;
      const { cancelledCalls } = fixture.store.console;
      const watched = {
        updateOne: cancelledCalls.updateOne.bind(cancelledCalls),
        find: (...given: Parameters<typeof cancelledCalls.find>) => {
          asked++;
          return cancelledCalls.find(...given);
        },
      };
      const store = {
        ...fixture.store,
        console: { ...fixture.store.console, cancelledCalls: watched },
        primary: { ...fixture.store.primary, throwIfMissing },
      } as unknown as Store;
      return { ...createCancellations(store, silentLog, () => reason), asked: () => asked };
    }

    it('costs nothing while no call runs that could be cancelled', async () => {
      const idle = cancellations();
      const busy = cancellations();
      const without = idle.begin('a grant', undefined, 1);
      const ended = idle.begin('a grant', 'a session', 1);
      ended.end();
      const running = busy.begin('a grant', 'a session', 2);
      await eventually(() => expect(busy.asked()).to.be.at.least(2));
      expect(idle.asked()).to.equal(0);
      running.end();
      without.end();
    });

    it('writes nothing when the call runs in the process that hears of it', async () => {
      const here = cancellations();
      const grant = randomUUID();
      const { signal, end } = here.begin(grant, 'a session', 1);
      await here.cancel(grant, 'a session', 1);
      end();
      expect(signal.reason).to.equal(reason);
      expect(await fixture.store.console.cancelledCalls.countDocuments({ _id: grant })).to.equal(0);
    });

    it('waits for the database without failing anything, and goes on when it is back', async () => {
      let away = true;
      let refused = 0;
      const here = cancellations(() => {
        if (!away) return;
        refused++;
        throw new NoPrimary(20_000);
      });
      const there = cancellations();
      const { signal, end } = here.begin('another grant', 'a session', 3);
      await here.cancel('another grant', 'a session', 4);
      await there.cancel('another grant', 'a session', 3);
      await eventually(() => expect(refused).to.be.at.least(2));
      expect(signal.aborted).to.equal(false);
      away = false;
      await eventually(() => expect(signal.aborted).to.equal(true));
      end();
    });
  });
});
