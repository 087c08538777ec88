import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { asyncClient } from '../../support/async-fixture.ts';
import { eventually } from '../../support/eventually.ts';
import { renderCall } from '../../support/http-call.ts';
import { type Installation, installation } from '../../support/installation.ts';

/** Until it is canceled. */
const LONG = { html: 'long', wait_for_expression: 'false', timeout: '60s' };

const ASYNC = { PRESSROOM_ASYNC: 'on', PRESSROOM_SECRET: 'a secret of these tests' };

describe('the slots for asynchronous renders', function () {
  this.timeout(30_000);

  it('are not exceeded while large requests are read', async () => {
    const pressroom = await installation({ env: ASYNC });
    try {
      const client = asyncClient(pressroom.api.port(), pressroom.key);
      const large = { html: `x<!--${'x'.repeat(5e6)}-->`, wait_delay: '2s' };
      const submitted = await Promise.all(Array.from({ length: 6 }, () => client.submit(large)));
      let most = 0;
      for (let nth = 0; nth < 20; nth++) {
        const { jobs } = pressroom.store.asynchronous;
        most = Math.max(most, await jobs.countDocuments({ status: 'running' }));
        await sleep(100);
      }
      for (const { id } of submitted) await client.call('DELETE', `/${id}`);
      expect(most).to.equal(3); // two have slots, and one is prepared
    } finally {
      await pressroom.stop();
    }
  });
});

describe('the next asynchronous render', function () {
  this.timeout(60_000);

  let pressroom: Installation;
  let client: ReturnType<typeof asyncClient>;
  let other: { key: string; client: ReturnType<typeof asyncClient> };

  const isNow = (who: typeof client, id: string, status: string) =>
    eventually(async () => expect((await who.read(id)).status).to.equal(status));
  const submitted = async (who: typeof client, status: string) => {
    const { id } = await who.submit(LONG);
    await isNow(who, id, status);
    return id;
  };

  beforeEach(async () => {
    pressroom = await installation({ env: { ...ASYNC, PRESSROOM_SLOTS: '1' } });
    const { accounts } = pressroom;
    client = asyncClient(pressroom.api.port(), pressroom.key);
    await accounts.createAccount('other', { plan: 'scale', intranet: false });
    const { text: key } = await accounts.createKey('other', { name: 'test' });
    other = { key, client: asyncClient(pressroom.api.port(), key) };
  });

  afterEach(() => pressroom.stop());

  it('is prepared while all slots are busy, but a synchronous one goes first', async () => {
    const running = await submitted(client, 'running');
    const prepared = await submitted(client, 'running');
    const waiting = await submitted(client, 'queued');
    const synchronous = renderCall(pressroom.api.port(), other.key, { html: 'first' });
    await eventually(async () =>
      expect(await pressroom.metrics.text()).to.match(/^pressroom_queue_depth\{.*\} 1$/m),
    );
    await client.call('DELETE', `/${running}`);
    expect((await synchronous).status).to.equal(200);
    expect((await client.read(prepared)).status).to.equal('running');
    await isNow(client, waiting, 'running');
    for (const id of [prepared, waiting]) await client.call('DELETE', `/${id}`);
  });

  it('is prepared only for an account that runs one', async () => {
    const running = await submitted(client, 'running');
    const id = await submitted(other.client, 'queued');
    await sleep(1_000);
    await isNow(other.client, id, 'queued');
    await client.call('DELETE', `/${running}`);
    await isNow(other.client, id, 'running');
    await other.client.call('DELETE', `/${id}`);
  });

  it('can be canceled while it is prepared, and the one after it is prepared', async () => {
    const running = await submitted(client, 'running');
    const prepared = await submitted(client, 'running');
    const waiting = await submitted(client, 'queued');
    await client.call('DELETE', `/${prepared}`);
    await isNow(client, prepared, 'canceled');
    await isNow(client, waiting, 'running');
    for (const id of [running, waiting]) await client.call('DELETE', `/${id}`);
    await eventually(async () => expect(await pressroom.running()).to.equal(0));
  });

  it('waits again as soon as the process shuts down', async () => {
    const reader = await installation({ uri: pressroom.uri, workers: 0 });
    try {
      await submitted(client, 'running');
      const _id = await submitted(client, 'running');
      const stopped = pressroom.stop();
      const { jobs } = reader.store.asynchronous;
      await eventually(async () =>
        expect(await jobs.findOne({ _id })).to.deep.include({ status: 'queued', attemptLog: [] }),
      );
      await stopped;
    } finally {
      await reader.stop();
    }
  });
});
