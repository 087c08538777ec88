// @proves POST /mcp
// Cancellation by a client of the 2025 revisions: a separate message, which any API process may
// receive.
import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { createCancellations } from '../../../api/console/mcp/cancellations.ts';
import { NoPrimary, type Store } from '../../../api/store/store.ts';
import { silentLog } from '../../../common/log.ts';
import {
  type ConsoleFixture,
  consoleFixture,
  type TestUser,
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

describe('a cancellation message', () => {
  let fixture: ConsoleFixture;
  let replica: ConsoleFixture;
  let developer: TestUser;
  let token: string;
  before(async () => {
    fixture = await consoleFixture();
    replica = await consoleFixture({ uri: fixture.uri, workers: 0 });
    developer = await fixture.createUser({ role: 'developer' });
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

  it('cancels a render of another process and frees its slot', async () => {
    const headers = session();
    const running = mcpCall(fixture, token, call(7), headers);
    await fixture.worker.until({ busy: 1 });
    const answer = await mcpCall(replica, token, cancel(7), headers);
    expect([answer.status, answer.body.length]).to.deep.equal([202, 0]);
    expect(replyOf(await running).result!.content[0]!.text).to.equal('The call was canceled.');
  });

  it('cancels a call that arrives after it, whichever process received it', async () => {
    for (const receiver of [replica, fixture]) {
      const headers = session();
      expect((await mcpCall(receiver, token, cancel('a'), headers)).status).to.equal(202);
      const reply = replyOf(await mcpCall(fixture, token, call('a'), headers));
      expect(reply.result!.content[0]!.text).to.equal('The call was canceled.');
    }
  });

  it('does not cancel a call of another app, session or message id', async () => {
    const headers = session();
    const other = (await authorizeApp(fixture, developer)).access_token;
    const running = mcpCall(
      fixture,
      token,
      call(1, { html: 'x', wait_delay: '3s', sandbox: true }),
      headers,
    );
    await fixture.worker.until({ busy: 1 });
    for (const [by, message, sentHeaders] of [
      [other, cancel(1), headers],
      [token, cancel(1), session()],
      [token, cancel('1'), headers],
      [token, cancel(1), {}],
    ] as const)
      for (const receiver of [replica, fixture])
        expect((await mcpCall(receiver, by, message, sentHeaders)).status).to.equal(202);
    expect(replyOf(await running).result!.content[0]!.text).to.include('The PDF is ready');
  });

  it('is counted and logged as a client disconnect', async () => {
    const headers = session();
    const counted = () => callsCounted(fixture, '/mcp', 'client_closed');
    const before = await counted();
    const running = mcpCall(fixture, token, call(1), headers);
    await fixture.worker.until({ busy: 1 });
    await mcpCall(fixture, token, cancel(1), headers);
    const { headers: responseHeaders } = await running;
    expect(await counted()).to.equal(before + 1);
    await eventually(async () =>
      expect(
        await fixture.store.console.renders.findOne({ _id: responseHeaders['x-request-id']! }),
      ).to.include({ outcome: 'client_closed' }),
    );
  });

  it('is stored as a hash for one minute, at most 50 for each app', async () => {
    const headers = { 'mcp-session-id': 'a session' };
    const mine = (await authorizeApp(fixture, developer)).access_token;
    const before = new Set(
      (await fixture.store.console.cancelledCalls.find().toArray()).map(({ _id }) => _id),
    );
    for (let id = 0; id < 60; id++) await mcpCall(replica, mine, cancel(id), headers);
    const stored = (await fixture.store.console.cancelledCalls.find().toArray()).filter(
      ({ _id }) => !before.has(_id),
    );
    expect(stored.map(({ calls }) => calls.length)).to.deep.equal([50]);
    expect(JSON.stringify(stored)).to.not.include('a session');
    expect(stored[0]!.expiresAt.getTime()).to.be.at.most(Date.now() + 60_000);
    const ttlIndexes = (await fixture.store.console.cancelledCalls.indexes()).filter(
      ({ expireAfterSeconds }) => expireAfterSeconds === 0,
    );
    expect(ttlIndexes.map(({ key }) => key)).to.deep.equal([{ expiresAt: 1 }]);
  });

  describe('between processes', () => {
    const reason = new Error('cancelled');
    /** Those of one process on the fixture's database; `polls`: how often it has polled. */
    function cancellations(throwIfMissing = () => {}) {
      let polls = 0;
      const { cancelledCalls } = fixture.store.console;
      const watched = {
        updateOne: cancelledCalls.updateOne.bind(cancelledCalls),
        find: (...given: Parameters<typeof cancelledCalls.find>) => {
          polls++;
          return cancelledCalls.find(...given);
        },
      };
      const store = {
        ...fixture.store,
        console: { ...fixture.store.console, cancelledCalls: watched },
        primary: { ...fixture.store.primary, throwIfMissing },
      } as unknown as Store;
      return { ...createCancellations(store, silentLog, () => reason), polls: () => polls };
    }

    it('polls only while a call runs that could be cancelled', async () => {
      const idle = cancellations();
      const busy = cancellations();
      const without = idle.begin('a grant', undefined, 1);
      const ended = idle.begin('a grant', 'a session', 1);
      ended.end();
      const running = busy.begin('a grant', 'a session', 2);
      await eventually(() => expect(busy.polls()).to.be.at.least(2));
      expect(idle.polls()).to.equal(0);
      running.end();
      without.end();
    });

    it('writes nothing when the call runs in the receiving process', async () => {
      const here = cancellations();
      const grant = randomUUID();
      const { signal, end } = here.begin(grant, 'a session', 1);
      await here.cancel(grant, 'a session', 1);
      end();
      expect(signal.reason).to.equal(reason);
      expect(await fixture.store.console.cancelledCalls.countDocuments({ _id: grant })).to.equal(0);
    });

    it('continues when the database is available again, without an error', async () => {
      let unavailable = true;
      let failures = 0;
      const here = cancellations(() => {
        if (!unavailable) return;
        failures++;
        throw new NoPrimary(20_000);
      });
      const there = cancellations();
      const { signal, end } = here.begin('another grant', 'a session', 3);
      await here.cancel('another grant', 'a session', 4);
      await there.cancel('another grant', 'a session', 3);
      await eventually(() => expect(failures).to.be.at.least(2));
      expect(signal.aborted).to.equal(false);
      unavailable = false;
      await eventually(() => expect(signal.aborted).to.equal(true));
      end();
    });
  });
});
