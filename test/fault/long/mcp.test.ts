// @proves mcp-process-death
// The MCP tool and the OAuth server when an API process is killed during a call: the lease expires,
// another process serves the next call, and no partial PDF remains.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { connectStore, type Store } from '../../../api/store/store.ts';
import { silentLog } from '../../../common/log.ts';
import { mcpClients, type ToolAnswer, textOf } from '../../support/console/mcp-fixture.ts';
import {
  type ApiFixture,
  type AuthorizedApp,
  authorizeApp,
  PUBLIC_URL,
  refresh,
  type Tokens,
  tokensOf,
} from '../../support/console/oauth-flow.ts';
import { signedIn } from '../../support/console/signed-in.ts';
import { eventually } from '../../support/eventually.ts';
import { httpCall } from '../../support/http-call.ts';
import {
  type ApiReplica,
  type Deployment,
  type DeploymentAccount,
  startDeployment,
} from '../harness/deployment.ts';
import { quiet } from '../harness/quiet.ts';

/** Longer than these scenarios: the kill ends what is blocked. */
const BLOCK_MS = 60_000;

describe('an API process that is killed during a call of an app', function () {
  this.timeout(120_000);
  let deployment: Deployment;
  let store: Store;
  let account: DeploymentAccount;
  let one: ApiReplica;
  let two: ApiReplica;
  let tokens: AuthorizedApp;
  const connect = mcpClients();

  const at = ({ port }: ApiReplica): ApiFixture => ({ api: { port: () => port } });
  /** An authorized app, at one of the processes. */
  const connected = ({ port }: ApiReplica, { access_token }: Tokens = tokens) =>
    connect('present', `http://127.0.0.1:${port}`, access_token);
  const db = () => deployment.cluster.client.db('pressroom');
  /** Resolves when the server blocks a command of this name on this collection. */
  const blocked = (command: 'insert' | 'update', collection: string) =>
    eventually(async () => {
      const found = await deployment.cluster.client
        .db('admin')
        .aggregate([{ $currentOp: {} }, { $match: { [`command.${command}`]: collection } }])
        .toArray();
      if (found.length === 0) throw new Error(`no ${command} for ${collection} is held back`);
    });

  beforeEach(async () => {
    deployment = await startDeployment({ workers: 1, api: { PRESSROOM_PUBLIC_URL: PUBLIC_URL } });
    [one, two] = deployment.apis as [ApiReplica, ApiReplica];
    store = connectStore({ uri: deployment.cluster.uri, operationTimeoutMs: 10_000 }, silentLog);
    await store.start();
    account = await deployment.account('free');
    tokens = await authorizeApp(
      at(one),
      await signedIn(store, { account: account.id, role: 'developer' }),
    );
  });
  afterEach(async () => {
    await store?.stop(AbortSignal.timeout(1_000));
    await deployment?.stop();
  });

  it('loses its lease within 20 s, and another process serves the next call', async () => {
    const call = (await connected(one))
      .render(deployment.probePages.page(account.id, 'killed'))
      .catch((error: Error) => error);
    await deployment.probePages.until(account.id, 1);
    await one.process.kill();
    const killedMs = performance.now();
    expect(await call).to.be.instanceOf(Error);
    const client = await connected(two);
    let answer: ToolAnswer;
    for (;;) {
      answer = await client.render({ html: '<p>again</p>' });
      if (!answer.isError) break;
      expect(textOf(answer)).to.match(/^concurrency_limit: /);
      await sleep(200);
    }
    expect(performance.now() - killedMs).to.be.lessThan(20_000);
    const { url, bytes } = answer.structuredContent!;
    expect((await httpCall(two.port, 'GET', new URL(url).pathname)).body.length).to.equal(bytes);
    expect(await account.usage()).to.equal(1);
    expect(await db().collection('documents.files').countDocuments()).to.equal(1);
    await quiet(deployment);
  });

  it('serves nothing of a PDF that it was storing, and its chunks expire', async () => {
    const namespace = 'pressroom.documents.files';
    await deployment.cluster.fail(
      ['insert'],
      { namespace, blockConnection: true, blockTimeMS: BLOCK_MS },
      { times: 1 },
    );
    const call = (await connected(one))
      .render({ html: '<p>half</p>' })
      .catch((error: Error) => error);
    const chunks = db().collection('documents.chunks');
    await blocked('insert', 'documents.files');
    const chunk = (await chunks.findOne())!;
    await one.process.kill();
    expect(await call).to.be.instanceOf(Error);
    const unreadable = await (await connected(two))
      .read(`render://${chunk['files_id']}`)
      .catch((error: Error) => error);
    expect(String(unreadable)).to.include('PDF not found');
    expect(chunk['expiresAt']).to.be.instanceOf(Date);
    expect((await chunks.indexes()).find(({ key }) => key['expiresAt'])).to.include({
      expireAfterSeconds: 0,
    });
    await quiet(deployment);
  });

  it('does not disconnect an app whose token response was lost', async () => {
    const { client, refresh_token, access_token } = tokens;
    // The old token is used, and the new one is not yet written.
    const namespace = 'pressroom.oauth_grants';
    await deployment.cluster.fail(
      ['update'],
      { namespace, blockConnection: true, blockTimeMS: BLOCK_MS },
      { times: 1 },
    );
    const lost = refresh(at(one), client, refresh_token).catch((error: Error) => error);
    await blocked('update', 'oauth_grants');
    const used = { _id: /^RefreshToken:/ as never, consumedAt: { $exists: true } };
    expect(await db().collection('oauth').countDocuments(used)).to.equal(1);
    await one.process.kill();
    expect(await lost).to.be.instanceOf(Error);
    const answer = await refresh(at(two), client, refresh_token);
    expect(answer.status, String(answer.body)).to.equal(200);
    const renewed = tokensOf(answer);
    expect(renewed.access_token).not.to.equal(access_token);
    expect(
      (await (await connected(two, renewed)).render({ html: '<p>new tokens</p>' })).isError ??
        false,
    ).to.equal(false);
  });
});
