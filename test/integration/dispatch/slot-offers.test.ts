// A worker offers a free slot to one API process at a time. No behaviour of that process may lose
// the slot.
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { WebSocket } from 'ws';
import { WAITING } from '../../../common/protocol.ts';
import { openLink } from '../../fault/harness/link.ts';
import { type BareApi, startBareApi } from '../../support/bare-api.ts';
import { eventually } from '../../support/eventually.ts';
import {
  type LightApi,
  type LightWorker,
  startLightApi,
  startLightWorker,
} from '../../support/light-pool.ts';

/** A little less than `OFFER_MS` in worker/gateway/slot-offers.ts: then the slot is offered to all. */
const UNANSWERED_MS = 900;

describe('offers of a free slot', () => {
  let worker: LightWorker;
  const bareApis: BareApi[] = [];
  const apis: LightApi[] = [];

  beforeEach(async () => {
    worker = await startLightWorker(1);
    worker.join();
  });
  afterEach(async () => {
    for (const bare of bareApis.splice(0)) bare.close();
    for (const api of apis.splice(0)) await api.stop();
    await worker.stop();
  });

  async function startBare(name?: string): Promise<BareApi> {
    const started = await startBareApi(worker, name);
    bareApis.push(started);
    return started;
  }
  async function startLight(): Promise<LightApi> {
    const started = await startLightApi([worker.address]);
    apis.push(started);
    return started;
  }

  /** Two APIs that wait for the only slot, which a third one holds. `older` has waited longer. */
  async function waitingPair(): Promise<{ older: BareApi; younger: BareApi; held: WebSocket }> {
    const [older, younger, holder] = [
      await startBare('older'),
      await startBare('younger'),
      await startBare('holder'),
    ];
    const held = (await holder.claim())!;
    younger.announce({ waitedMs: 1_000 });
    older.announce({ waitedMs: 9_000 });
    // The response to a later claim shows that the worker has processed both announcements.
    expect(await holder.claim()).to.equal(undefined);
    await eventually(() =>
      expect([older, younger].map(each => each.status().ready)).to.deep.equal([0, 0]),
    );
    return { older, younger, held };
  }
  const isOffered = (api: BareApi) => eventually(() => expect(api.status().ready).to.equal(1));

  it('offers the slot to the API that has waited longest and rejects the others', async () => {
    const { older, younger, held } = await waitingPair();
    held.terminate();
    await isOffered(older);
    expect(younger.status().ready).to.equal(0);
    expect(await younger.claim()).to.equal(undefined);
    const socket = await older.claim();
    expect(socket).to.not.equal(undefined);
    socket!.terminate();
    await isOffered(younger);
  });

  it('offers the slot to the next API as soon as the first one has nothing queued', async () => {
    const { older, younger, held } = await waitingPair();
    held.terminate();
    await isOffered(older);
    const offered = performance.now();
    older.announce(undefined);
    await isOffered(younger);
    expect(performance.now() - offered).to.be.lessThan(UNANSWERED_MS);
    expect(await older.claim()).to.equal(undefined);
  });

  it('offers the slot to the next API as soon as the first one disconnects', async () => {
    const { older, younger, held } = await waitingPair();
    held.terminate();
    await isOffered(older);
    const offered = performance.now();
    older.close();
    await isOffered(younger);
    expect(performance.now() - offered).to.be.lessThan(UNANSWERED_MS);
  });

  it('offers the slot to all APIs about one second after an unanswered offer', async () => {
    const { older, younger, held } = await waitingPair();
    const other = await startBare('other');
    held.terminate();
    await isOffered(older);
    expect(other.status().ready).to.equal(0);
    await isOffered(other);
    await isOffered(younger);
    expect(await other.claim()).to.not.equal(undefined);
  });

  it('assigns the slot to the next render when the render it was offered for is canceled', async () => {
    const [near, far] = [await startLight(), await startLight()];
    const release = Promise.withResolvers<void>();
    const first = near.render('x', () => release.promise);
    await eventually(() => expect(worker.busy()).to.equal(1));
    const canceling = new AbortController();
    const canceled = near.render('x', async () => {}, { signal: canceling.signal });
    canceled.catch(() => {});
    await sleep(50); // this render has waited longer than the next
    const remaining = far.render('x', async () => {});
    canceling.abort(new Error('the client disconnected'));
    release.resolve();
    await Promise.all([first, remaining]);
  });

  it('serves an account over its fair share in one API as often as the only account of another API', async () => {
    await worker.stop();
    worker = await startLightWorker(2); // with one slot, none is reserved
    worker.join();
    const [near, far] = [await startLight(), await startLight()];
    const served = { near: 0, far: 0 };
    const endMs = performance.now() + 5_000;
    /** Six callers that render for 40 ms each without a pause. */
    const renderContinuously = (api: LightApi, accountId: string, count: () => void) =>
      Array.from({ length: 6 }, async () => {
        while (performance.now() < endMs) {
          await api.render(accountId, () => sleep(40));
          // an account is over its fair share after its queue has existed for one second
          if (performance.now() > endMs - 3_000) count();
        }
      });
    // An account with little load, for which the last free slot would be reserved.
    const lightLoad = async () => {
      for (; performance.now() < endMs; await sleep(200))
        await near.render('modest', () => sleep(1));
    };
    await Promise.all([
      ...renderContinuously(near, 'heavy', () => served.near++),
      ...renderContinuously(far, 'alone', () => served.far++),
      lightLoad(),
    ]);
    expect(served.near / served.far, JSON.stringify(served)).to.be.within(0.6, 1.6);
  });

  it('alternates between APIs when the worker runs the previous release, which ignores announcements', async () => {
    const link = await openLink(worker.port, 'websocket');
    const lost = link.onFrame({
      direction: 'up',
      matches: frame => frame.includes(WAITING),
      do: 'lose',
    });
    for (let count = 0; count < 2; count++)
      apis.push(await startLightApi([worker.address], () => `ws://127.0.0.1:${link.port}`));
    const renders = apis.flatMap(api =>
      Array.from({ length: 30 }, () => api.render('x', () => sleep(5))),
    );
    await Promise.all(renders);
    expect(lost.hits()).to.be.greaterThan(0);
    for (const api of apis) expect(await api.attempts('opened')).to.equal(30);
    await link.close();
  });

  it('alternates between an API of this release and one of the previous release', async () => {
    const [api, old] = [await startLight(), await startBare()];
    let served = 0;
    let stopped = false;
    // The previous release claims whenever the worker reports a ready slot.
    const poll = async (): Promise<void> => {
      if (stopped || old.status().ready === 0) return;
      const socket = await old.claim();
      if (!socket) return void setTimeout(poll, 10);
      served++;
      await sleep(5);
      const closed = once(socket, 'close');
      socket.close();
      await closed;
    };
    old.onStatus(() => void poll());
    let most = 0;
    const renders = Array.from({ length: 60 }, () => api.render('x', () => sleep(5)));
    for (const render of renders) most = Math.max(most, await render);
    stopped = true;
    expect(served, 'the previous release is not starved').to.be.at.least(15);
    expect(served, 'the previous release does not jump the queue').to.be.at.most(75);
    expect(most).to.be.lessThan(10_000);
  });
});
