// @proves consent, access-tokens
// The consent of a user for an app, bound to the user's role, account, browser and login.
import { expect } from 'chai';
import {
  type ConsoleFixture,
  consoleFixture,
  type TestUser,
} from '../../support/console/console-fixture.ts';
import { earlierMessage, mcpCall } from '../../support/console/mcp-call.ts';
import {
  accessOf,
  answerConsent,
  authorizeApp,
  browser,
  type Client,
  codeOf,
  fieldOf,
  locationOf,
  newClient,
  oauthErrorOf,
  openConsent,
  PUBLIC_URL,
  pkce,
  redeem,
  refresh,
} from '../../support/console/oauth-flow.ts';
import { joinTeam } from '../../support/console/signed-in.ts';

describe('the consent for an app', () => {
  let fixture: ConsoleFixture;
  let person: TestUser;
  let client: Client;
  before(async () => {
    fixture = await consoleFixture({ workers: 0 });
    person = await fixture.createUser({ role: 'developer' });
    client = await newClient(fixture);
  });
  after(() => fixture.stop());

  it('ends with the next call of a disabled user', async () => {
    const other = await fixture.createUser({ role: 'developer' });
    const { access_token, refresh_token } = await authorizeApp(fixture, other, { client });
    const { code, verifier } = await codeOf(fixture, other, { client });
    await fixture.store.console.users.updateOne({ _id: other.id }, { $set: { disabled: true } });
    const { status, headers } = await mcpCall(fixture, access_token, earlierMessage('tools/list'));
    expect([status, headers['www-authenticate']?.includes('invalid_token')]).to.deep.equal([
      401,
      true,
    ]);
    expect(oauthErrorOf(await refresh(fixture, client, refresh_token))).to.equal('invalid_grant');
    expect(oauthErrorOf(await redeem(fixture, client, code, verifier))).to.equal('invalid_grant');
  });

  it('ends when the user is removed from the account or becomes a viewer', async () => {
    for (const change of [
      (user: string) => ({ $pull: { members: { user } } }),
      (_user: string) => ({ $set: { 'members.$.role': 'viewer' as const } }),
    ]) {
      const other = await fixture.createUser({ role: 'developer' });
      const { access_token, refresh_token } = await authorizeApp(fixture, other, { client });
      expect(await accessOf(fixture, access_token)).to.include({ user: other.id });
      await fixture.store.console.teams.updateOne(
        { _id: fixture.accountId, 'members.user': other.id },
        change(other.id),
      );
      expect(await accessOf(fixture, access_token)).to.equal(undefined);
      expect(oauthErrorOf(await refresh(fixture, client, refresh_token))).to.equal('invalid_grant');
    }
  });

  it('is rejected for roles that may not render', async () => {
    for (const role of ['viewer', 'billing'] as const) {
      const other = await fixture.createUser({ role });
      const userBrowser = browser(fixture, other.cookie);
      const page = await openConsent(userBrowser, client, pkce().challenge);
      const shown = (await userBrowser.get(page)).body.toString();
      expect(shown)
        .to.include('You do not have permission to render in any account')
        .and.not.include('value="allow"');
      const forced = await userBrowser.post(page, {
        user: other.id,
        account: fixture.accountId,
        answer: 'allow',
      });
      expect(forced.status).to.equal(403);
      expect(forced.headers).not.to.have.property('location');
    }
  });

  it('is rejected for an account without membership', async () => {
    const userBrowser = browser(fixture, person.cookie);
    const page = await openConsent(userBrowser, client, pkce().challenge);
    const answer = await userBrowser.post(page, {
      user: person.id,
      account: await fixture.account2(),
      answer: 'allow',
    });
    expect(answer.status).to.equal(403);
  });

  it('applies to the chosen account', async () => {
    const both = await fixture.createUser({ role: 'developer' });
    const second = await fixture.account2();
    await joinTeam(fixture.store, second, both.id, 'admin');
    const { access_token } = await authorizeApp(fixture, both, { client, account: second });
    expect(await accessOf(fixture, access_token)).to.include({ user: both.id, account: second });
  });

  it('returns access_denied to the app when the user cancels', async () => {
    const userBrowser = browser(fixture, person.cookie);
    const back = await answerConsent(
      userBrowser,
      await openConsent(userBrowser, client, pkce().challenge),
      {
        answer: 'cancel',
      },
    );
    const parameters = Object.fromEntries(back.searchParams);
    expect(parameters)
      .to.include({ error: 'access_denied', state: 'a state', iss: PUBLIC_URL })
      .and.not.have.property('code');
  });

  it('redirects a user who is not signed in to the login and back', async () => {
    const userBrowser = browser(fixture);
    const page = await openConsent(userBrowser, client, pkce().challenge);
    const to = locationOf(await userBrowser.get(page));
    expect(to.pathname).to.equal('/app/sign-in');
    expect(to.searchParams.get('next')).to.equal(page);
    userBrowser.cookie = person.cookie;
    expect((await answerConsent(userBrowser, page)).searchParams.get('code')).to.be.a('string');
  });

  it('is not given for a user who signed in after the page was shown', async () => {
    const userBrowser = browser(fixture, person.cookie);
    const page = await openConsent(userBrowser, client, pkce().challenge);
    const shown = (await userBrowser.get(page)).body.toString();
    const fields = {
      user: fieldOf(shown, 'user')!,
      account: fieldOf(shown, 'account')!,
      answer: 'allow',
    };
    const other = await fixture.createUser({ role: 'owner' });
    userBrowser.cookie = other.cookie;
    const answer = await userBrowser.post(page, fields);
    expect(answer.status).to.equal(409);
    expect(answer.body.toString())
      .to.include('You are now signed in as a different user')
      .and.include(other.email);
    // A second submission is the new user's own consent.
    const code = (await answerConsent(userBrowser, page)).searchParams.get('code');
    expect(code).to.be.a('string');
    expect(await fixture.store.console.oauthGrants.findOne({ user: other.id })).to.include({
      account: fixture.accountId,
    });
  });

  it('is bound to the browser that started it', async () => {
    const page = await openConsent(browser(fixture, person.cookie), client, pkce().challenge);
    const victim = browser(fixture, person.cookie);
    expect((await victim.get(page)).status).to.equal(410);
    const forced = await victim.post(page, {
      user: person.id,
      account: fixture.accountId,
      answer: 'allow',
    });
    expect(forced.status).to.equal(410);
  });

  it('rejects a cross-site form', async () => {
    const userBrowser = browser(fixture, person.cookie);
    const page = await openConsent(userBrowser, client, pkce().challenge);
    const shown = await userBrowser.get(page);
    expect(shown.headers['content-security-policy'])
      .to.include("frame-ancestors 'none'")
      .and.not.include('form-action');
    const body = new URLSearchParams({
      user: person.id,
      account: fixture.accountId,
      answer: 'allow',
    }).toString();
    const headers = {
      'content-type': 'application/x-www-form-urlencoded',
      'sec-fetch-site': 'cross-site',
      cookie: person.cookie,
    };
    expect((await fixture.call('POST', page, headers, body)).status).to.equal(403);
  });
});
