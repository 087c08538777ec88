import { expect } from 'chai';
import { MongoClient } from 'mongodb';
import { asyncClient } from '../../support/async-fixture.ts';
import { eventually } from '../../support/eventually.ts';
import { type Installation, installation } from '../../support/installation.ts';
import { HELLO, PROXIES, trial } from '../../support/trial-calls.ts';

/** Until it is canceled. */
const LONG = { html: 'long', wait_for_expression: 'false', timeout: '60s' };
const ASYNC = { ...PROXIES, PRESSROOM_ASYNC: 'on', PRESSROOM_SECRET: 'a secret of these tests' };

type Client = ReturnType<typeof asyncClient>;

describe('a prepared asynchronous render', function () {
  this.timeout(60_000);

  let pressroom: Installation;
  let client: Client;
  /** Ends what still runs. */
  const ends: (() => Promise<unknown>)[] = [];

  const start = async (slots: number) => {
    pressroom = await installation({ env: { ...ASYNC, PRESSROOM_SLOTS: String(slots) } });
    client = asyncClient(pressroom.api.port(), pressroom.key);
  };
  const other = async () => {
    await pressroom.accounts.createAccount('other', { plan: 'scale', intranet: false });
    const { text: key } = await pressroom.accounts.createKey('other', { name: 'test' });
    return asyncClient(pressroom.api.port(), key);
  };
  const isNow = (who: Client, id: string, status: string) =>
    eventually(async () => expect((await who.read(id)).status).to.equal(status));
  const submitted = async (who: Client, status: string) => {
    const { id } = await who.submit(LONG);
    ends.push(() => who.call('DELETE', `/${id}`));
    await isNow(who, id, status);
    return id;
  };

  /** The lease of a claim that found no job is released: its account does not wait then. */
  const emptyClaims = (count: number) =>
    eventually(async () => {
      const text = await pressroom.metrics.text();
      const [, releases] =
        /^pressroom_mongodb_operation_duration_seconds_count\{.*operation="release".*\} (\d+)$/m.exec(
          text,
        )!;
      expect(Number(releases)).to.be.at.least(count);
    });

  /** The next such command of Pressroom takes three seconds longer. */
  const blocksOnce = async (command: string) => {
    const admin = await MongoClient.connect(pressroom.uri);
    const failPoint = (mode: unknown) =>
      admin.db('admin').command({
        configureFailPoint: 'failCommand',
        mode,
        data: {
          failCommands: [command],
          appName: 'pressroom',
          blockConnection: true,
          blockTimeMS: 3_000,
        },
      });
    await failPoint({ times: 1 });
    ends.push(async () => {
      await failPoint('off');
      await admin.close();
    });
  };

  afterEach(async () => {
    await Promise.allSettled(ends.splice(0).map(end => end()));
    await pressroom.stop();
  });

  it('lets an account go first that runs fewer', async () => {
    await start(2);
    const second = await other();
    await submitted(client, 'running');
    const running = await submitted(second, 'running');
    await emptyClaims(2);
    const prepared = await submitted(client, 'running');
    const waiting = await Promise.all([1, 2, 3].map(() => second.submit({ html: 'short' })));
    await isNow(client, prepared, 'queued');
    await second.call('DELETE', `/${running}`);
    for (const { id } of waiting) expect((await second.end(id)).status).to.equal('succeeded');
  });

  it('leaves a slot to an account whose last PDF is still being stored', async () => {
    await start(2);
    const second = await other();
    await submitted(client, 'running');
    const { id: first } = await second.submit({ html: 'short', wait_delay: '3s' });
    await isNow(second, first, 'running');
    const { id: last } = await second.submit({ html: 'short' });
    await submitted(client, 'queued');
    await blocksOnce('commitTransaction');
    for (const id of [first, last]) expect((await second.end(id)).status).to.equal('succeeded');
  });

  it('waits again at once when its lease is lost, and the attempt does not count', async () => {
    await start(1);
    await submitted(client, 'running');
    const id = await submitted(client, 'running');
    const { jobs } = pressroom.store.asynchronous;
    const { lease } = (await jobs.findOne({ _id: id }))!;
    await pressroom.store.accounts.updateOne(
      { 'leases.id': lease! },
      { $pull: { leases: { id: lease! } } },
    );
    await eventually(async () => {
      const job = (await jobs.findOne({ _id: id }))!;
      expect(job.lease).to.be.a('string').and.not.equal(lease);
      expect(job.attemptLog).to.have.length(1);
    });
  });

  it('waits again in the database when another account submits one', async () => {
    await start(1);
    const second = await other();
    await submitted(client, 'running');
    const id = await submitted(client, 'running');
    await submitted(second, 'queued');
    await isNow(client, id, 'queued');
    const job = await pressroom.store.asynchronous.jobs.findOne({ _id: id });
    expect(job).to.deep.include({ status: 'queued', attemptLog: [] });
  });

  it('takes a free slot while a trial render waits for more of them', async () => {
    await start(2);
    await submitted(client, 'running');
    const waiting = trial(pressroom, HELLO);
    await eventually(async () =>
      expect(await pressroom.metrics.text()).to.match(/^pressroom_queue_depth\{.*\} 1$/m),
    );
    const { id } = await client.submit({ html: 'short' });
    expect((await client.end(id)).status).to.equal('succeeded');
    expect(await pressroom.metrics.text()).to.match(/^pressroom_queue_depth\{.*\} 1$/m);
    await Promise.all(ends.map(end => end()));
    expect((await waiting).status).to.equal(200);
  });
});
