// @proves queue-bounds
// A full queue rejects new renders at once and still serves those in the queue.
import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import type { Answer } from '../support/http-call.ts';
import { type Deployment, type DeploymentAccount, startDeployment } from './harness/deployment.ts';
import { quiet } from './harness/quiet.ts';

const SMALL = { html: '<p>small</p>' };
/** A request of this many bytes with a small page. */
const ofBytes = (bytes: number) => {
  const page = (filling: string) => ({ html: `<!--${filling}--><p>small</p>` });
  return page('a'.repeat(bytes - JSON.stringify(page('')).length));
};

describe('a full queue', function () {
  this.timeout(120_000);
  let deployment: Deployment;
  let accounts: DeploymentAccount[];
  afterEach(() => deployment?.stop());

  /** One slot, and a render that holds it until the probe page is released. */
  async function start(
    env: Record<string, string>,
  ): Promise<{ first: Promise<Answer>; release(): void }> {
    deployment = await startDeployment({
      apis: 1,
      workers: 1,
      slots: 1,
      api: { PRESSROOM_QUEUE_TIMEOUT: '10m', PRESSROOM_RENDER_TIMEOUT: '10m', ...env },
    });
    accounts = await Promise.all(Array.from({ length: 6 }, () => deployment.account('scale')));
    const [holder] = accounts as [DeploymentAccount];
    const first = deployment.render(holder, deployment.probePages.page(holder.id, 'the first'));
    first.catch(() => {}); // looked at later
    await deployment.probePages.until(holder.id, 1);
    return { first, release: () => deployment.probePages.release(holder.id) };
  }

  /** Calls of several accounts, so that no concurrency limit applies. */
  const call = (count: number, body: object) =>
    Array.from({ length: count }, (_, index) =>
      deployment.render(accounts[1 + (index % 5)]!, body),
    );
  const waiting = async () => {
    const metrics = await deployment.apis[0]!.process.metrics();
    return {
      renders: metrics.sum('pressroom_queue_depth'),
      bytes: metrics.sum('pressroom_queue_bytes'),
    };
  };
  const statuses = async (answers: Promise<Answer>[]) =>
    (await Promise.all(answers)).map(({ status }) => status);

  function isQueueFull({ status, headers, error }: Answer): void {
    expect(status).to.equal(502);
    expect(error()).to.include({ code: 'render_failed', reason: 'queue_full' });
    expect(headers['retry-after']).to.match(/^([1-9]|[12]\d|30)$/);
  }

  it('rejects renders beyond PRESSROOM_QUEUE_MAX_RENDERS at once, with Retry-After', async () => {
    const { first, release } = await start({ PRESSROOM_QUEUE_MAX_RENDERS: '5' });
    const inside = call(5, SMALL);
    await eventually(async () => expect((await waiting()).renders).to.equal(5));
    const rejected = await Promise.all(call(20, SMALL));
    for (const answer of rejected) isQueueFull(answer);
    // The queue itself has not changed.
    expect((await waiting()).renders).to.equal(5);
    release();
    expect(await statuses([first, ...inside])).to.deep.equal(Array(6).fill(200));
    expect(await statuses(call(5, SMALL))).to.deep.equal(Array(5).fill(200));
    await quiet(deployment);
  });

  it('rejects a body beyond PRESSROOM_QUEUE_MAX_BYTES at once, and queues smaller ones', async () => {
    const { first, release } = await start({ PRESSROOM_QUEUE_MAX_BYTES: '4MiB' });
    const inside = call(4, ofBytes(1_000_000));
    await eventually(async () =>
      expect(await waiting()).to.deep.equal({ renders: 4, bytes: 4_000_000 }),
    );
    for (const answer of await Promise.all(call(10, ofBytes(1_000_000)))) isQueueFull(answer);
    const small = call(5, SMALL);
    await eventually(async () => expect((await waiting()).renders).to.equal(9));
    release();
    expect(await statuses([first, ...inside, ...small])).to.deep.equal(Array(10).fill(200));
    await quiet(deployment);
  });

  it('rejects an account at its share of the bytes with concurrency_limit, and queues another', async () => {
    const { first, release } = await start({ PRESSROOM_QUEUE_MAX_BYTES: '4MiB' });
    const [, one, other] = accounts as [DeploymentAccount, DeploymentAccount, DeploymentAccount];
    const inside = [1, 2, 3].map(() => deployment.render(one, ofBytes(1_000_000)));
    await eventually(async () => expect((await waiting()).renders).to.equal(3));
    const rejected = await deployment.render(one, ofBytes(1_000_000));
    expect(rejected.status).to.equal(429);
    expect(rejected.error().code).to.equal('concurrency_limit');
    const beside = deployment.render(other, ofBytes(1_000_000));
    await eventually(async () => expect((await waiting()).renders).to.equal(4));
    release();
    expect(await statuses([first, ...inside, beside])).to.deep.equal(Array(5).fill(200));
    await quiet(deployment);
  });
});
