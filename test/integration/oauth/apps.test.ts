// @proves access-tokens
// The connected apps of a user: the list, disconnection, expiry and audit entries.
import { expect } from 'chai';
import {
  type ConsoleFixture,
  consoleFixture,
  type TestUser,
} from '../../support/console/console-fixture.ts';
import {
  accessOf,
  authorizeApp,
  codeOf,
  newClient,
  redeem,
  refresh,
  revoke,
  tokensOf,
} from '../../support/console/oauth-flow.ts';
import { joinTeam } from '../../support/console/signed-in.ts';

interface App {
  id: string;
  name: string | null;
  redirect: string;
  account: { id: string; name: string };
  lastUsedAt: string | null;
}

describe('connected apps', () => {
  let fixture: ConsoleFixture;
  let person: TestUser;
  before(async () => {
    fixture = await consoleFixture({ workers: 0 });
  });
  beforeEach(async () => {
    person = await fixture.createUser({ role: 'developer' });
  });
  after(() => fixture.stop());

  const apps = async (of = person) => (await of.good<{ items: App[] }>('GET', '/me/apps')).items;
  const entries = () =>
    fixture.store.console.audit.find({ user: person.id }, { sort: { at: 1 } }).toArray();

  it('are listed for their user only, with account, redirect and last use', async () => {
    const { access_token } = await authorizeApp(fixture, person);
    const [app, ...others] = await apps();
    expect(others).to.deep.equal([]);
    expect(app).to.deep.include({
      name: 'An App',
      redirect: '127.0.0.1:33418',
      scope: 'render',
      account: { id: fixture.accountId, name: fixture.account },
      lastUsedAt: null,
    });
    await accessOf(fixture, access_token);
    expect(Date.parse((await apps())[0]!.lastUsedAt!)).to.be.closeTo(Date.now(), 10_000);
    expect(await apps(await fixture.createUser({ role: 'owner' }))).to.deep.equal([]);
  });

  it('are disconnected at once, by their user only', async () => {
    const tokens = await authorizeApp(fixture, person);
    const other = await authorizeApp(fixture, person);
    const [, app] = await apps();
    const stranger = await fixture.createUser({ role: 'owner' });
    expect((await stranger.call('DELETE', `/me/apps/${app!.id}`)).status).to.equal(404);
    expect(await accessOf(fixture, tokens.access_token)).to.include({ grantId: app!.id });
    await person.good('DELETE', `/me/apps/${app!.id}`);
    expect(await accessOf(fixture, tokens.access_token)).to.equal(undefined);
    expect((await refresh(fixture, tokens.client, tokens.refresh_token)).status).to.equal(400);
    expect(await accessOf(fixture, other.access_token)).to.include({ user: person.id });
    expect((await person.call('DELETE', `/me/apps/${app!.id}`)).status).to.equal(404);
    expect(await fixture.store.console.oauth.countDocuments({ grantId: app!.id })).to.equal(0);
  });

  it('end when an operator disables the user, and stay ended when the user is enabled again', async () => {
    const { access_token, refresh_token, client } = await authorizeApp(fixture, person);
    const operator = await fixture.createUser({ operator: true });
    for (const disabled of [true, false])
      await operator.good('PATCH', `/operator/users/${person.id}`, { disabled });
    expect(await accessOf(fixture, access_token)).to.equal(undefined);
    expect((await refresh(fixture, client, refresh_token)).status).to.equal(400);
    expect(await fixture.store.console.oauthGrants.countDocuments({ user: person.id })).to.equal(0);
  });

  it('end when the user is removed from the account, and stay ended when the user joins again', async () => {
    const { access_token, refresh_token, client } = await authorizeApp(fixture, person);
    const owner = await fixture.createUser({ role: 'owner' });
    await owner.good('DELETE', `/accounts/${fixture.accountId}/team/members/${person.id}`);
    await joinTeam(fixture.store, fixture.accountId, person.id, 'developer');
    expect(await accessOf(fixture, access_token)).to.equal(undefined);
    expect((await refresh(fixture, client, refresh_token)).status).to.equal(400);
    expect(await apps()).to.deep.equal([]);
  });

  it('add entries without secrets to the audit log of the account', async () => {
    const client = await newClient(fixture, { client_name: 'A Noted App' });
    const first = await authorizeApp(fixture, person, { client });
    await person.good('DELETE', `/me/apps/${(await apps())[0]!.id}`);
    const second = await authorizeApp(fixture, person, { client });
    await revoke(fixture, client, second.refresh_token);
    const { code, verifier } = await codeOf(fixture, person, { client });
    for (let times = 0; times < 2; times += 1) await redeem(fixture, client, code, verifier);
    const lines = await entries();
    expect(
      lines.map(({ action, target, account, details }) => [
        action,
        target,
        account,
        details?.['by'],
      ]),
    ).to.deep.equal([
      ['app.connected', 'A Noted App', fixture.accountId, undefined],
      ['app.disconnected', 'A Noted App', fixture.accountId, 'person'],
      ['app.connected', 'A Noted App', fixture.accountId, undefined],
      ['app.disconnected', 'A Noted App', fixture.accountId, 'app'],
      ['app.connected', 'A Noted App', fixture.accountId, undefined],
      ['app.disconnected', 'A Noted App', fixture.accountId, 'service'],
    ]);
    expect(lines.at(-1)!.details).to.include({ reason: 'token reuse' });
    for (const token of [first.access_token, second.refresh_token])
      expect(JSON.stringify(lines)).not.to.include(token);
  });

  it('expire after ten minutes when the code is not redeemed, else with their tokens', async () => {
    const keptForMs = async () =>
      (await fixture.store.console.oauthGrants.findOne({ user: person.id }))!.expiresAt.getTime() -
      Date.now();
    const { client, code, verifier } = await codeOf(fixture, person);
    expect(await keptForMs()).to.be.within(9 * 60e3, 10 * 60e3);
    const tokens = tokensOf(await redeem(fixture, client, code, verifier));
    expect(await keptForMs()).to.be.within(29 * 86_400e3, 30.1 * 86_400e3);
    await fixture.store.console.oauthGrants.updateOne(
      { user: person.id },
      { $set: { expiresAt: new Date(Date.now() - 1_000) } },
    );
    expect(await apps()).to.deep.equal([]);
    expect(await accessOf(fixture, tokens.access_token)).to.equal(undefined);
  });
});
