// @proves refresh-tokens, oauth-without-database
// The database is away, at the start of a call or in the midst of one: apps and people are told so
// and when to come again, and nothing is lost when they do.
import { expect } from 'chai';
import { type Document, MongoClient } from 'mongodb';
import type { ManagedMongod } from '../../../standalone/mongod.ts';
import {
  type ConsoleFixture,
  consoleFixture,
  type Person,
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

/** A server that cannot do its work now, and says so at once. */
const TOO_SLOW = 50;
const ALL = ['find', 'aggregate', 'insert', 'update', 'delete', 'findAndModify', 'count'];

describe('an OAuth server whose database is away', () => {
  let mongod: ManagedMongod;
  let admin: MongoClient;
  let fixture: ConsoleFixture;
  let person: Person;
  let client: Client;
  before(async () => {
    mongod = await freshMongod();
    admin = await MongoClient.connect(mongod.uri);
    fixture = await consoleFixture({ workers: 0, uri: mongod.uriFor('oauth') });
    person = await fixture.person({ role: 'developer' });
    client = await newClient(fixture);
  });
  after(async () => {
    await fixture?.stop();
    await admin?.close();
    await mongod?.stop();
  });
  afterEach(() => working());
  const another = moreProcesses();

  const failPoint = (mode: unknown, data: Document = {}) =>
    admin
      .db('admin')
      .command({ configureFailPoint: 'failCommand', mode, ...(mode !== 'off' && { data }) });
  const working = () => failPoint('off');
  const away = (failCommands = ALL, mode: unknown = 'alwaysOn') =>
    failPoint(mode, { failCommands, errorCode: TOO_SLOW, appName: 'pressroom' });

  function expectAway(answer: Answer, what: string): void {
    expect(answer.status, `${what}: ${answer.body}`).to.equal(503);
    expect(Number(answer.headers['retry-after']), what).to.be.within(1, 10);
    expect(answer.headers['cache-control'], what).to.equal('no-store');
    const said = jsonOf(answer);
    expect(said['error'], what).to.equal('temporarily_unavailable');
    expect(said['error_description'], what).to.include('database').and.include('Try again');
  }
  function expectAwayPage(answer: Answer, what: string): void {
    expect(answer.status, `${what}: ${answer.body}`).to.equal(503);
    expect(Number(answer.headers['retry-after']), what).to.be.within(1, 10);
    expect(answer.headers['content-type'], what).to.match(/^text\/html/);
    expect(answer.body.toString(), what)
      .to.include('database')
      .and.not.include('temporarily_unavailable: ');
  }

  it('says so to apps, in the words of OAuth, and what they hold is good afterwards', async () => {
    const tokens = await authorizeApp(fixture, person, { client });
    const { code, verifier } = await codeOf(fixture, person, { client });
    const counted = await callsCounted(fixture, '/oauth/token', 'unavailable');
    await away();
    expectAway(await redeem(fixture, client, code, verifier), 'a code');
    expectAway(await refresh(fixture, client, tokens.refresh_token), 'a refresh token');
    expectAway(await revoke(fixture, client, tokens.access_token), 'giving back');
    const registered = await registerClient(fixture, { redirect_uris: ['https://app.example/cb'] });
    expectAway(registered, 'registering');
    expect(registered.headers['access-control-allow-origin']).to.equal('*');
    await working();
    expect(await accessOf(fixture, tokens.access_token)).to.include({ user: person.id });
    expect((await redeem(fixture, client, code, verifier)).status).to.equal(200);
    expect((await refresh(fixture, client, tokens.refresh_token)).status).to.equal(200);
    expect(await callsCounted(fixture, '/oauth/token', 'unavailable')).to.equal(counted + 2);
  });

  it('says so to people, on pages that can be loaded again, and the consent goes on afterwards', async () => {
    const { verifier, challenge } = pkce();
    const visitor = browser(fixture, person.cookie);
    await away();
    expectAwayPage(await visitor.get(authorizePath(client, challenge)), 'asking');
    await working();
    const page = await openConsent(visitor, client, challenge);
    const shown = (await visitor.get(page)).body.toString();
    const sent = {
      user: fieldOf(shown, 'user')!,
      account: fieldOf(shown, 'account')!,
      answer: 'allow',
    };
    await away();
    expectAwayPage(await visitor.get(page), 'the page');
    expectAwayPage(await visitor.post(page, sent), 'the answer');
    await away(['insert', 'update']);
    expectAwayPage(await visitor.post(page, sent), 'the answer, in the midst');
    await working();
    const onward = locationOf(await visitor.post(page, sent)).href;
    await away(['find']);
    expectAwayPage(await visitor.get(onward), 'the way back');
    await working();
    const back = locationOf(await visitor.get(onward));
    expect(
      (await redeem(fixture, client, back.searchParams.get('code')!, verifier)).status,
    ).to.equal(200);
  });

  it('gives up in time when the database stands still, and goes on when it moves again', async () => {
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
      expectAway(refreshed, 'a refresh token');
      expectAway(redeemed, 'a code');
      expectAway(registered, 'registering');
      expectAwayPage(asked, 'asking');
      expect(metadata.status).to.equal(200);
    } finally {
      thaw(mongod.pid);
    }
    await eventually(async () =>
      expect((await refresh(fixture, client, refresh_token)).status).to.equal(200),
    );
  });

  it('tells what it is from its memory, and says so before it has read its keys', async () => {
    await fixture.call('GET', '/oauth/jwks');
    const cold = await another(fixture);
    await away();
    for (const path of [
      '/.well-known/oauth-authorization-server',
      '/.well-known/oauth-authorization-server/mcp',
      '/oauth/jwks',
    ]) {
      expect((await fixture.call('GET', path)).status, path).to.equal(200);
      expectAway(await cold.call('GET', path), path);
    }
    expect((await cold.call('GET', '/.well-known/oauth-protected-resource/mcp')).status).to.equal(
      200,
    );
    await working();
    expect((await cold.call('GET', '/.well-known/oauth-authorization-server')).status).to.equal(
      200,
    );
  });

  it('loses no refresh token, at whichever write it went away', async () => {
    let writes = 0;
    for (; ; writes += 1) {
      const first = await authorizeApp(fixture, person, { client });
      await away(['update'], { skip: writes });
      const answer = await refresh(fixture, client, first.refresh_token);
      await working();
      if (answer.status === 200) break;
      expectAway(answer, `write ${writes}`);
      const again = await refresh(fixture, client, first.refresh_token);
      expect(again.status, `after write ${writes}: ${again.body}`).to.equal(200);
      const { access_token, refresh_token } = tokensOf(again);
      expect(await accessOf(fixture, access_token)).to.include({ user: person.id });
      expect((await refresh(fixture, client, refresh_token)).status).to.equal(200);
    }
    expect(writes).to.be.within(4, 10);
  });

  it('takes a code once, however its first use ended: the person connects again', async () => {
    const { code, verifier } = await codeOf(fixture, person, { client });
    await away(['update'], { skip: 1 });
    expectAway(await redeem(fixture, client, code, verifier), 'the first use');
    await working();
    expect(oauthErrorOf(await redeem(fixture, client, code, verifier))).to.equal('invalid_grant');
  });

  it('knows the tool’s callers again afterwards, and says so to them meanwhile', async () => {
    const { access_token } = await authorizeApp(fixture, person, { client });
    const ask = () => mcpCall(fixture, access_token, earlierMessage('ping'));
    await away();
    const answer = await ask();
    expect([answer.status, answer.headers['retry-after']]).to.deep.equal([503, '1']);
    await working();
    expect((await ask()).status).to.equal(200);
  });
});
