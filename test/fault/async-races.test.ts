// @proves DELETE /v1/renders/{id}, plans
// Asynchronous renders that end in several ways at once, and processes that share an account.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { JobDocument } from '../../api/store/store.ts';
import { asyncClient } from '../support/async-fixture.ts';
import { type ApiReplica, type Deployment, startDeployment } from './harness/deployment.ts';
import { type JobLedger, openJobLedger } from './harness/job-ledger.ts';
import { chanceOfThisRun } from './harness/random.ts';

const JOBS = 48;
/** The first allows as many requests in progress as the test sends. */
const PLANS = 'scale=100 async_parallel=7,growth=30 async_parallel=3';
const MOST = 3;
const ENDED_MS = 60_000;

describe('asynchronous renders that end in several ways at once', function () {
  this.timeout(120_000);
  let deployment: Deployment;
  let ledger: JobLedger;
  let apis: [ApiReplica, ApiReplica];

  before(async () => {
    deployment = await startDeployment({
      slots: 4,
      api: { PRESSROOM_ASYNC: 'on', PRESSROOM_PLANS: PLANS },
    });
    ledger = await openJobLedger(deployment);
    apis = deployment.apis as typeof apis;
  });
  after(async () => {
    await ledger?.close();
    await deployment?.stop();
  });

  it('end once, and count only if they succeeded', async () => {
    const chance = chanceOfThisRun('races of asynchronous renders');
    const account = await deployment.account('scale');
    const clients = apis.map(({ port }) => asyncClient(port, account.key));
    const jobs = deployment.cluster.client.db('pressroom').collection<JobDocument>('jobs');
    const submitted = await Promise.all(
      Array.from({ length: JOBS }, () =>
        chance.pick(clients).submit({ html: '<p>x</p>', wait_delay: `${chance.int(50, 400)}ms` }),
      ),
    );
    // Each is canceled, by both processes, and expires at about the time of its end.
    const cancel = async (id: string) => {
      const { status } = await chance.pick(clients).call('DELETE', `/${id}`);
      expect(status).to.be.oneOf([200, 409]);
    };
    const expire = (_id: string) =>
      jobs.updateOne({ _id }, { $set: { expiresAt: new Date(Date.now() - 1) } });
    await Promise.all(
      submitted.map(async ({ id }) => {
        while ((await clients[0]!.read(id)).status === 'queued') await sleep(20);
        await sleep(chance.int(0, 600));
        const both = chance.percent(50) ? [cancel(id), expire(id)] : [expire(id), cancel(id)];
        await Promise.all([...both, cancel(id)]);
      }),
    );
    const ended = await ledger.allEnded(
      submitted.map(({ id }) => ({ job: id })),
      ENDED_MS,
    );
    const statuses = new Set([...ended.values()].map(({ status }) => status));
    expect([...statuses]).to.include.members(['canceled']);
    expect(ended.size).to.equal(JOBS);
  });

  it('run within the limit of their account when two processes start them', async () => {
    const account = await deployment.account('growth');
    const { probePages } = deployment;
    const clients = apis.map(({ port }) => asyncClient(port, account.key));
    const submitted = await Promise.all(
      Array.from({ length: JOBS }, (_, nth) =>
        clients[nth % 2]!.submit(probePages.page(account.id, `shared ${nth}`)),
      ),
    );
    const releasing = setInterval(() => {
      if (probePages.alive(account.id) === MOST)
        for (let nth = 0; nth < JOBS; nth++) probePages.letGo(`shared ${nth}`);
    }, 100);
    await sleep(5_000);
    clearInterval(releasing);
    expect(probePages.most(account.id)).to.equal(MOST);
    probePages.release(account.id);
    await ledger.allEnded(
      submitted.map(({ id }) => ({ job: id })),
      ENDED_MS,
    );
    const ranBy = apis.map(
      ({ process }) => process.log.filter(({ msg }) => msg === 'asynchronous render').length,
    );
    expect(Math.min(...ranBy)).to.be.greaterThan(0);
  });
});
