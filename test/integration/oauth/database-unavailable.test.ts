// @proves refresh-tokens, oauth-without-database
// The database is unavailable at the start of a call or in the middle of one: apps and people get a
// 503 with Retry-After, and a retry loses nothing.
import { expect } from 'chai';
import { type Document, MongoClient } from 'mongodb';
import type { ManagedMongod } from '../../../standalone/mongod.ts';
import {
  type ConsoleFixture,
  consoleFixture,
  type TestUser,
} from '../../support/console/console-fixture.ts';
import { earlierMessage, mcpCall } from '../../support/console/mcp-call.ts';
import {
  accessOf,
  authorizeApp,
  authorizePath,
  browser,
  type Client,
  codeOf,
  fieldOf,
  jsonOf,
  locationOf,
  newClient,
  oauthErrorOf,
  openConsent,
  pkce,
  redeem,
  refresh,
  registerClient,
  revoke,
  tokensOf,
} from '../../support/console/oauth-flow.ts';
import { callsCounted } from '../../support/counted.ts';
import { eventually } from '../../support/eventually.ts';
import { freeze, thaw } from '../../support/freeze.ts';
import type { Answer } from '../../support/http-call.ts';
import { moreProcesses } from '../../support/more-processes.ts';
import { freshMongod } from '../../support/servers/mongod.ts';

/** ExceededTimeLimit: an error without delay. */
const TOO_SLOW = 50;
const ALL = ['find', 'aggregate', 'insert', 'update', 'delete', 'findAndModify', 'count'];

describe('the OAuth server without its database', () => {
  let mongod: ManagedMongod;
  let admin: MongoClient;
  let fixture: ConsoleFixture;
  let person: TestUser;
  let client: Client;
  before(async () => {
    mongod = await freshMongod();
    admin = await MongoClient.connect(mongod.uri);
    fixture = await consoleFixture({ workers: 0, uri: mongod.uriFor('oauth') });
    person = await fixture.createUser({ role: 'developer' });
    client = await newClient(fixture);
  });
  after(async () => {
    await fixture?.stop();
    await admin?.close();
    await mongod?.stop();
  });
  afterEach(() => restore());
  const another = moreProcesses();

  const failPoint = (mode: unknown, data: Document = {}) =>
    admin
      .db('admin')
      .command({ configureFailPoint: 'failCommand', mode, ...(mode !== 'off' && { data }) });
  const restore = () => failPoint('off');
  const fail = (failCommands = ALL, mode: unknown = 'alwaysOn', more: Document = {}) =>
    failPoint(mode, { failCommands, errorCode: TOO_SLOW, appName: 'pressroom', ...more });
  /** Other collections are also written to in the background. */
  const failAfter = (skip: number) => fail(['update'], { skip }, { namespace: 'oauth.oauth' });

  function expectUnavailable(answer: Answer, what: string): void {
    expect(answer.status, `${what}: ${answer.body}`).to.equal(503);
    expect(Number(answer.headers['retry-after']), what).to.be.within(1, 10);
    expect(answer.headers['cache-control'], what).to.equal('no-store');
    const body = jsonOf(answer);
    expect(body['error'], what).to.equal('temporarily_unavailable');
    expect(body['error_description'], what).to.include('database').and.include('Try again');
  }
  function expectUnavailablePage(answer: Answer, what: string): void {
    expect(answer.status, `${what}: ${answer.body}`).to.equal(503);
    expect(Number(answer.headers['retry-after']), what).to.be.within(1, 10);
    expect(answer.headers['content-type'], what).to.match(/^text\/html/);
    expect(answer.body.toString(), what)
      .to.include('database')
      .and.not.include('temporarily_unavailable: ');
  }

  it('responds temporarily_unavailable to apps, and accepts their tokens afterwards', async () => {
    const tokens = await authorizeApp(fixture, person, { client });
    const { code, verifier } = await codeOf(fixture, person, { client });
    const counted = await callsCounted(fixture, '/oauth/token', 'unavailable');
    await fail();
    expectUnavailable(await redeem(fixture, client, code, verifier), 'a code');
    expectUnavailable(await refresh(fixture, client, tokens.refresh_token), 'a refresh token');
    expectUnavailable(await revoke(fixture, client, tokens.access_token), 'a revocation');
    const registered = await registerClient(fixture, { redirect_uris: ['https://app.example/cb'] });
    expectUnavailable(registered, 'a registration');
    expect(registered.headers['access-control-allow-origin']).to.equal('*');
    await restore();
    expect(await accessOf(fixture, tokens.access_token)).to.include({ user: person.id });
    expect((await redeem(fixture, client, code, verifier)).status).to.equal(200);
    expect((await refresh(fixture, client, tokens.refresh_token)).status).to.equal(200);
    expect(await callsCounted(fixture, '/oauth/token', 'unavailable')).to.equal(counted + 2);
  });

  it('shows people an error page, and continues the consent after a reload', async () => {
    const { verifier, challenge } = pkce();
    const userBrowser = browser(fixture, person.cookie);
    await fail();
    expectUnavailablePage(
      await userBrowser.get(authorizePath(client, challenge)),
      'an authorization request',
    );
    await restore();
    const page = await openConsent(userBrowser, client, challenge);
    const shown = (await userBrowser.get(page)).body.toString();
    const sent = {
      user: fieldOf(shown, 'user')!,
      account: fieldOf(shown, 'account')!,
      answer: 'allow',
    };
    await fail();
    expectUnavailablePage(await userBrowser.get(page), 'the consent page');
    expectUnavailablePage(await userBrowser.post(page, sent), 'the consent');
    await fail(['insert', 'update']);
    expectUnavailablePage(await userBrowser.post(page, sent), 'the consent, during its writes');
    await restore();
    const onward = locationOf(await userBrowser.post(page, sent)).href;
    await fail(['find']);
    expectUnavailablePage(await userBrowser.get(onward), 'the redirect');
    await restore();
    const back = locationOf(await userBrowser.get(onward));
    expect(
      (await redeem(fixture, client, back.searchParams.get('code')!, verifier)).status,
    ).to.equal(200);
  });

  it('responds in time when the database hangs, and recovers with it', async () => {
    const { refresh_token } = await authorizeApp(fixture, person, { client });
    const { code, verifier } = await codeOf(fixture, person, { client });
    await freeze(mongod.pid);
    try {
      const [refreshed, redeemed, registered, asked, metadata] = await Promise.all([
        refresh(fixture, client, refresh_token),
        redeem(fixture, client, code, verifier),
        registerClient(fixture, { redirect_uris: ['https://app.example/cb'] }),
        browser(fixture, person.cookie).get(authorizePath(client, pkce().challenge)),
        fixture.call('GET', '/.well-known/oauth-authorization-server'),
      ]);
      expectUnavailable(refreshed, 'a refresh token');
      expectUnavailable(redeemed, 'a code');
      expectUnavailable(registered, 'a registration');
      expectUnavailablePage(asked, 'an authorization request');
      expect(metadata.status).to.equal(200);
    } finally {
      thaw(mongod.pid);
    }
    await eventually(async () =>
      expect((await refresh(fixture, client, refresh_token)).status).to.equal(200),
    );
  });

  it('serves its metadata from memory once it has read the keys', async () => {
    await fixture.call('GET', '/oauth/jwks');
    const cold = await another(fixture);
    await fail();
    for (const path of [
      '/.well-known/oauth-authorization-server',
      '/.well-known/oauth-authorization-server/mcp',
      '/oauth/jwks',
    ]) {
      expect((await fixture.call('GET', path)).status, path).to.equal(200);
      expectUnavailable(await cold.call('GET', path), path);
    }
    expect((await cold.call('GET', '/.well-known/oauth-protected-resource/mcp')).status).to.equal(
      200,
    );
    await restore();
    expect((await cold.call('GET', '/.well-known/oauth-authorization-server')).status).to.equal(
      200,
    );
  });

  it('loses no refresh token, whichever write fails', async () => {
    let writes = 0;
    for (; ; writes += 1) {
      const first = await authorizeApp(fixture, person, { client });
      await fail(['update'], { skip: writes });
      const answer = await refresh(fixture, client, first.refresh_token);
      await restore();
      if (answer.status === 200) break;
      expectUnavailable(answer, `write ${writes}`);
      const again = await refresh(fixture, client, first.refresh_token);
      expect(again.status, `after write ${writes}: ${again.body}`).to.equal(200);
      const { access_token, refresh_token } = tokensOf(again);
      expect(await accessOf(fixture, access_token)).to.include({ user: person.id });
      expect((await refresh(fixture, client, refresh_token)).status).to.equal(200);
    }
    expect(writes).to.be.within(4, 10);
  });

  it('rejects a second use of a code even when the first use failed', async () => {
    const { code, verifier } = await codeOf(fixture, person, { client });
    await failAfter(1);
    expectUnavailable(await redeem(fixture, client, code, verifier), 'the first use');
    await restore();
    expect(oauthErrorOf(await redeem(fixture, client, code, verifier))).to.equal('invalid_grant');
  });

  it('responds 503 to calls of the tool, and accepts their tokens afterwards', async () => {
    const { access_token } = await authorizeApp(fixture, person, { client });
    const ask = () => mcpCall(fixture, access_token, earlierMessage('ping'));
    await fail();
    const answer = await ask();
    expect([answer.status, answer.headers['retry-after']]).to.deep.equal([503, '1']);
    await restore();
    expect((await ask()).status).to.equal(200);
  });
});
