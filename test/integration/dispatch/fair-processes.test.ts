// Fairness between two API processes with separate queues that share workers: renders start in
// order of arrival.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { type Link, openLink } from '../../fault/harness/link.ts';
import { longestIdealWaitMs } from '../../support/ideal-queue.ts';
import {
  type LightApi,
  type LightWorker,
  startLightApi,
  startLightWorker,
} from '../../support/light-pool.ts';

/** Added latency of the second API process in each direction, as to another node. */
const LATENCY_MS = 4;
/** A tenth of a slow render (3 s). The allowed difference in waiting scales with it. */
const RENDER_MS = 300;

describe('two API processes with different latency to the workers', function () {
  this.timeout(60_000);
  const workers: LightWorker[] = [];
  const apis: LightApi[] = [];
  const links: Link[] = [];

  async function start(count: number, slots: number): Promise<void> {
    for (let made = 0; made < count; made++) workers.push(await startLightWorker(slots));
    for (const { port } of workers) links.push(await openLink(port));
    for (const link of links) link.delay(LATENCY_MS);
    const addresses = workers.map(({ address }) => address);
    const far = (address: string) => `ws://127.0.0.1:${links[addresses.indexOf(address)]!.port}`;
    apis.push(await startLightApi(addresses), await startLightApi(addresses, far));
  }
  afterEach(async () => {
    for (const api of apis.splice(0)) await api.stop();
    for (const link of links.splice(0)) await link.close();
    for (const worker of workers.splice(0)) await worker.stop();
  });

  it('keep renders waiting about equally long in a burst while workers join', async () => {
    await start(10, 1);
    const waits: number[] = [];
    const caller = async (_: unknown, index: number) => {
      for (let call = 0; call < 5; call++)
        waits.push(await apis[index % 2]!.render('account', () => sleep(RENDER_MS)));
    };
    const renders = Promise.all(Array.from({ length: 40 }, caller));
    let maxDifferenceMs = 0;
    const sampler = setInterval(() => {
      const [near, far] = apis.map(({ dispatch }) => dispatch.waiting().oldestMs);
      if (near! > 0 && far! > 0)
        maxDifferenceMs = Math.max(maxDifferenceMs, Math.abs(near! - far!));
    }, 20);
    const joinsMs = workers.map((_, index) => (index * RENDER_MS) / 3);
    for (const [index, worker] of workers.entries()) {
      if (index > 0) await sleep(RENDER_MS / 3);
      worker.join();
    }
    await renders.finally(() => clearInterval(sampler));
    expect(waits).to.have.length(200);
    expect(maxDifferenceMs).to.be.at.most(1_500);
    const ideal = longestIdealWaitMs({
      joinsMs,
      callers: 40,
      everyMs: 0,
      calls: 5,
      renderMs: RENDER_MS,
    });
    expect(Math.max(...waits)).to.be.at.most(2 * ideal);
  });
});
