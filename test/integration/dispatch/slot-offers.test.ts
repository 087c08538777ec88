// A slot that becomes free is offered to one API process; whatever that process does, the slot is
// not lost.
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

describe('a slot that becomes free', function () {
  this.timeout(20_000);
  let worker: LightWorker;
  const bares: BareApi[] = [];
  const apis: LightApi[] = [];

  beforeEach(async () => {
    worker = await startLightWorker(1);
    worker.join();
  });
  afterEach(async () => {
    for (const bare of bares.splice(0)) bare.close();
    for (const api of apis.splice(0)) await api.stop();
    await worker.stop();
  });

  async function bare(name?: string): Promise<BareApi> {
    const started = await startBareApi(worker, name);
    bares.push(started);
    return started;
  }
  async function light(): Promise<LightApi> {
    const started = await startLightApi([worker.address]);
    apis.push(started);
    return started;
  }

  /** Two APIs that wait for the one slot, which a third holds. `older` has waited longest. */
  async function waitingPair(): Promise<{ older: BareApi; younger: BareApi; held: WebSocket }> {
    const [older, younger, holder] = [
      await bare('older'),
      await bare('younger'),
      await bare('holder'),
    ];
    const held = (await holder.claim())!;
    younger.announce({ waitedMs: 1_000 });
    older.announce({ waitedMs: 9_000 });
    // The worker has read both when it has answered a claim that came after them.
    expect(await holder.claim()).to.equal(undefined);
    await eventually(() =>
      expect([older, younger].map(each => each.status().ready)).to.deep.equal([0, 0]),
    );
    return { older, younger, held };
  }
  const isOffered = (api: BareApi) => eventually(() => expect(api.status().ready).to.equal(1));

  it('is ready for the API that has waited longest, and no other gets it', async () => {
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

  it('is offered to the next at once when nothing waits in the first any more', async () => {
    const { older, younger, held } = await waitingPair();
    held.terminate();
    await isOffered(older);
    const offered = performance.now();
    older.announce(undefined);
    await isOffered(younger);
    expect(performance.now() - offered).to.be.lessThan(200);
    expect(await older.claim()).to.equal(undefined);
  });

  it('is offered to the next at once when the first dies', async () => {
    const { older, younger, held } = await waitingPair();
    held.terminate();
    await isOffered(older);
    const offered = performance.now();
    older.close();
    await isOffered(younger);
    expect(performance.now() - offered).to.be.lessThan(200);
  });

  it('is ready for all after about a second when the first does not answer', async () => {
    const { older, younger, held } = await waitingPair();
    const other = await bare('other');
    held.terminate();
    await isOffered(older);
    expect(other.status().ready).to.equal(0);
    await isOffered(other);
    await isOffered(younger);
    expect(await other.claim()).to.not.equal(undefined);
  });

  it('goes to a render whose caller is there, when the render that it was offered for has left', async () => {
    const [near, far] = [await light(), await light()];
    const release = Promise.withResolvers<void>();
    const first = near.render('x', () => release.promise);
    await eventually(() => expect(worker.busy()).to.equal(1));
    const leaving = new AbortController();
    const left = near.render('x', async () => {}, { signal: leaving.signal });
    left.catch(() => {});
    await sleep(50); // it has waited longer than the next
    const stays = far.render('x', async () => {});
    leaving.abort(new Error('the client hung up'));
    release.resolve();
    await Promise.all([first, stays]);
  });

  it('is given to an account that floods one API as often as to one that is alone in another', async () => {
    await worker.stop();
    worker = await startLightWorker(2); // the only slot of a worker is kept for no one
    worker.join();
    const [near, far] = [await light(), await light()];
    const served = { near: 0, far: 0 };
    const endMs = performance.now() + 5_000;
    /** Renders of 40 ms without pause, of several callers. */
    const keepOn = (api: LightApi, accountId: string, count: () => void) =>
      Array.from({ length: 6 }, async () => {
        while (performance.now() < endMs) {
          await api.render(accountId, () => sleep(40));
          // an account floods when its line has stood for a second
          if (performance.now() > endMs - 3_000) count();
        }
      });
    // Beside it a light one is about, for which the last free slot would be kept.
    const visit = async () => {
      for (; performance.now() < endMs; await sleep(200))
        await near.render('modest', () => sleep(1));
    };
    await Promise.all([
      ...keepOn(near, 'flood', () => served.near++),
      ...keepOn(far, 'alone', () => served.far++),
      visit(),
    ]);
    expect(served.near / served.far, JSON.stringify(served)).to.be.within(0.6, 1.6);
  });

  it('goes to all APIs in turn when its worker is of the release before, which ignores announcements', async () => {
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
    for (const api of apis) expect(await api.claims('opened')).to.equal(30);
    await link.close();
  });

  it('is shared with an API of the release before: each is served in turn', async () => {
    const [api, old] = [await light(), await bare()];
    let served = 0;
    let ends = false;
    // It tries whenever a slot is ready by the worker's word, as that release does.
    const poll = async (): Promise<void> => {
      if (ends || old.status().ready === 0) return;
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
    ends = true;
    expect(served, 'it does not starve').to.be.at.least(15);
    expect(served, 'it does not jump the queue').to.be.at.most(75);
    expect(most).to.be.lessThan(10_000);
  });
});
