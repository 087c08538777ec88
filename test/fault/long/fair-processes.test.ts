// Two API processes with the same workers: a burst is served in order of arrival, whichever process
// received it.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { longestIdealWaitMs } from '../../support/ideal-queue.ts';
import { type ApiReplica, type Deployment, startDeployment } from '../harness/deployment.ts';
import { failuresOf } from '../harness/load.ts';
import { quiet } from '../harness/quiet.ts';

const [CALLERS, CALLS, RENDER_MS] = [40, 5, 3_000];
/** The calls arrive one by one, so that every queue time occurs in both processes. */
const EVERY_MS = 150;
const PAGE = {
  html: `<p>x</p><script>setTimeout(() => { window.done = true; }, ${RENDER_MS})</script>`,
  wait_for_expression: 'window.done',
};
const [WORKERS, FIRST] = [10, 2];
const JOIN_EVERY_MS = 1_000;
/** The added latency of the second API, like that of another node. */
const FAR_MS = 4;
const LOOK_MS = 250;

describe('a burst at two API processes', function () {
  this.timeout(300_000);
  let deployment: Deployment;
  beforeEach(async () => {
    deployment = await startDeployment({
      workers: WORKERS,
      slots: 1,
      links: true,
      api: { PRESSROOM_PLANS: `scale=${CALLERS}` },
    });
    for (const index of deployment.workers.keys()) connect(index, index < FIRST);
  });
  afterEach(() => deployment?.stop());

  /** Whether the API processes can reach the worker. */
  function connect(worker: number, can: boolean): void {
    for (const { toWorkers } of deployment.apis) {
      if (can) toWorkers[worker]!.heal();
      else toWorkers[worker]!.refuse();
    }
    deployment.apis[1]!.toWorkers[worker]!.delay(FAR_MS);
  }

  it('is served in one order while workers are added', async () => {
    // One account, so that only the queue time decides.
    const account = await deployment.account();
    const began = performance.now();
    const waits: number[] = [];
    const caller = async (_: unknown, index: number) => {
      const answers = [];
      await sleep(index * EVERY_MS);
      for (let call = 0; call < CALLS; call++) {
        const cameMs = performance.now();
        answers.push(
          await deployment
            .render(account, PAGE, deployment.apis[index % 2])
            .catch((error: Error) => error),
        );
        waits.push(performance.now() - cameMs - RENDER_MS);
      }
      return answers;
    };
    const calling = Promise.all(Array.from({ length: CALLERS }, caller));

    const oldest = async ({ process }: ApiReplica) =>
      (await process.metrics()).sum('pressroom_queue_oldest_wait_seconds');
    const apart: number[] = [];
    const over = new AbortController();
    const looking = (async () => {
      while (!over.signal.aborted) {
        const [near, far] = await Promise.all(deployment.apis.map(oldest));
        if (near! > 0 && far! > 0) apart.push(Math.abs(near! - far!));
        await sleep(LOOK_MS);
      }
    })();

    const joinsMs = Array.from({ length: FIRST }, () => 0);
    for (let worker = FIRST; worker < WORKERS; worker++) {
      await sleep(JOIN_EVERY_MS);
      connect(worker, true);
      joinsMs.push(performance.now() - began);
    }
    const answers = (await calling).flat();
    over.abort();
    await looking;

    const ideal = longestIdealWaitMs({
      joinsMs,
      callers: CALLERS,
      everyMs: EVERY_MS,
      calls: CALLS,
      renderMs: RENDER_MS,
    });
    expect(failuresOf(answers)).to.deep.equal([]);
    expect(Math.max(...waits)).to.be.at.most(2 * ideal);
    // Even with one queue, calls can be seconds apart when only one process has any of them.
    const far = apart.filter(seconds => seconds > 2);
    expect(far.length / apart.length, `${far} of ${apart.length} looks`).to.be.at.most(0.1);
    await quiet(deployment);
  });
});
