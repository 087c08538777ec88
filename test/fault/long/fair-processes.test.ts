// Two API processes with the same workers: a burst is served in order of arrival, whichever process
// received it.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { type Deployment, startDeployment } from '../harness/deployment.ts';
import { failuresOf } from '../harness/load.ts';
import { quiet } from '../harness/quiet.ts';

const [CALLERS, CALLS, RENDER_MS] = [40, 5, 3_000];
/** The calls arrive one by one. */
const EVERY_MS = 150;
const PAGE = {
  html: `<p>x</p><script>setTimeout(() => { window.done = true; }, ${RENDER_MS})</script>`,
  wait_for_expression: 'window.done',
};
const [WORKERS, FIRST] = [10, 2];
const JOIN_EVERY_MS = 1_000;
/** The added latency of the second API, like that of another node. */
const FAR_MS = 4;
/**
 * Later calls that may begin before a call: fewer than the other process receives at a time. About
 * 10 on a busy machine.
 */
const MAX_OVERTAKES = CALLERS / 2;

describe('a burst at two API processes', function () {
  this.timeout(300_000);
  let deployment: Deployment;
  beforeEach(async () => {
    deployment = await startDeployment({
      workers: WORKERS,
      slots: 1,
      links: true,
      api: { PRESSROOM_PLANS: `scale=${CALLERS}`, PRESSROOM_QUEUE_TIMEOUT: '5m' },
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
    const calls: { cameMs: number; startMs: number }[] = [];
    const caller = async (_: unknown, index: number) => {
      const answers = [];
      await sleep(index * EVERY_MS);
      for (let call = 0; call < CALLS; call++) {
        const answer = await deployment
          .render(account, PAGE, deployment.apis[index % 2])
          .catch((error: Error) => error);
        answers.push(answer);
        if (answer instanceof Error || answer.status !== 200) continue;
        // The first part of a UUIDv7: when the process received the call.
        const cameMs = Number.parseInt(
          answer.headers['x-request-id']!.replace('-', '').slice(0, 12),
          16,
        );
        const [, queuedMs] = /queue;dur=([\d.]+)/.exec(answer.headers['server-timing']!)!;
        calls.push({ cameMs, startMs: cameMs + Number(queuedMs) });
      }
      return answers;
    };
    const calling = Promise.all(Array.from({ length: CALLERS }, caller));

    for (let worker = FIRST; worker < WORKERS; worker++) {
      await sleep(JOIN_EVERY_MS);
      connect(worker, true);
    }
    const answers = (await calling).flat();
    expect(failuresOf(answers)).to.deep.equal([]);
    const overtakes = calls.map(
      call =>
        calls.filter(({ cameMs, startMs }) => cameMs > call.cameMs && startMs < call.startMs)
          .length,
    );
    expect(Math.max(...overtakes)).to.be.at.most(MAX_OVERTAKES);
    await quiet(deployment);
  });
});
