// @proves account-deletion
// The deletion of an account that renders in two API processes, one of which is killed meanwhile.
import { expect } from 'chai';
import type { Document } from 'mongodb';
import { AccountDeletion } from '../../api/accounts/account-deletion.ts';
import { accountData } from '../../api/store/account-data.ts';
import { connectStore, type Store } from '../../api/store/store.ts';
import { silentLog } from '../../common/log.ts';
import { asyncClient } from '../support/async-fixture.ts';
import { eventually } from '../support/eventually.ts';
import { PRESSROOM_PROGRAM, runNodeProgram } from '../support/run-program.ts';
import {
  type ApiReplica,
  type Deployment,
  type DeploymentAccount,
  startDeployment,
} from './harness/deployment.ts';

describe('the deletion of an account in use', function () {
  this.timeout(240_000);
  let deployment: Deployment;
  let store: Store;
  let apis: [ApiReplica, ApiReplica];

  before(async () => {
    deployment = await startDeployment({ api: { PRESSROOM_ASYNC: 'on' } });
    apis = deployment.apis as typeof apis;
    const { uri } = deployment.cluster;
    store = connectStore({ uri, operationTimeoutMs: 10_000 }, silentLog);
    await store.start();
  });
  after(async () => {
    await store?.stop(AbortSignal.timeout(5_000));
    await deployment?.stop();
  });

  /** The names of the collections with documents of the account, apart from those that stay. */
  async function collectionsWith(account: string): Promise<string[]> {
    const names: string[] = [];
    for (const row of accountData(store)) {
      if ('kept' in row) continue;
      const found = await row.collection.find().toArray();
      if (found.some((each: Document) => JSON.stringify(each).includes(account)))
        names.push(row.collection.collectionName);
    }
    return names;
  }

  /** Submits renders until the key is rejected. Resolves with the IDs of the accepted ones. */
  async function submitUntilRejected(
    api: ApiReplica,
    account: DeploymentAccount,
  ): Promise<string[]> {
    const client = asyncClient(api.port, account.key);
    const ids: string[] = [];
    for (;;) {
      const answer = await client.call('POST', '', { html: '<p>x</p>' }).catch(() => undefined);
      // The process was killed.
      if (!answer) return ids;
      if (answer.status !== 202) {
        expect(answer.status).to.equal(401);
        return ids;
      }
      ids.push(JSON.parse(answer.body.toString()).id);
    }
  }

  it('ends its renders, and leaves nothing of them', async () => {
    const [account, other] = [await deployment.account('scale'), await deployment.account('scale')];
    const { probePages } = deployment;
    const sync = deployment.render(account, probePages.page(account.id, 'sync'), apis[0]);
    const [first, second] = apis.map(({ port }) => asyncClient(port, account.key));
    await first!.submit(probePages.page(account.id, 'first'));
    await second!.submit(probePages.page(account.id, 'second'));
    await probePages.until(account.id, 3);
    const submissions = apis.map(api => submitUntilRejected(api, account));
    await eventually(async () =>
      expect(await store.asynchronous.jobs.countDocuments({ account: account.id })).to.be.above(9),
    );
    const args = ['accounts', 'delete', account.name, '--confirm', account.name];
    const deleting = runNodeProgram(PRESSROOM_PROGRAM, args, {
      MONGODB_URI: deployment.cluster.uri,
      PRESSROOM_PEPPER: 'a pepper that no key has',
    });
    await eventually(async () => expect(await store.deletedAccounts.countDocuments()).to.equal(1));
    await apis[1].process.kill();
    const { code, errors } = await deleting;
    expect(code, errors).to.equal(0);
    expect((await sync).error()).to.include({ code: 'render_failed' });
    const submitted = (await Promise.all(submissions)).flat();
    expect(submitted.length).to.be.above(9);
    await eventually(() => expect(probePages.alive(account.id)).to.equal(0));
    await apis[1].start();
    for (const api of apis)
      expect((await deployment.render(other, { html: '<p>x</p>' }, api)).status).to.equal(200);
    const deletion = new AccountDeletion(store);
    // The render log writes a little later.
    await eventually(async () => {
      await deletion.finishAll();
      expect(await collectionsWith(account.id)).to.deep.equal([]);
    });
    const chunks = await store.console.storedPdfChunks.distinct('files_id');
    expect(chunks.filter(name => submitted.some(id => name.startsWith(id)))).to.deep.equal([]);
  });

  it('is finished by a process that starts later', async () => {
    const _id = 'interrupted';
    await store.deletedAccounts.insertOne({ _id, name: 'Interrupted Ltd', at: new Date() });
    await store.console.teams.insertOne({ _id, members: [], invitations: [] });
    await apis[1].process.kill();
    await apis[1].start();
    await eventually(async () => {
      expect(await collectionsWith(_id)).to.deep.equal([]);
      expect(await store.deletedAccounts.findOne({ _id })).to.have.property('keptUntil');
    });
  });
});
