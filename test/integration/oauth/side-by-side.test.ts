// @proves mcp-clients
// Parallel refreshes of one app, a few milliseconds apart: the app stays connected and ends with
// one refresh token.
import { expect } from 'chai';
import { documentId, openPayload } from '../../../api/console/oauth/adapter.ts';
import { createEncryption } from '../../../common/encryption.ts';
import {
  CONSOLE_SECRET,
  type ConsoleFixture,
  consoleFixture,
  type TestUser,
} from '../../support/console/console-fixture.ts';
import {
  accessOf,
  authorizeApp,
  type Client,
  refresh,
  type Tokens,
  tokensOf,
} from '../../support/console/oauth-flow.ts';

describe('parallel refreshes of one app', () => {
  let fixture: ConsoleFixture;
  let person: TestUser;
  before(async () => {
    fixture = await consoleFixture({ workers: 0 });
    person = await fixture.createUser({ role: 'developer' });
  });
  after(() => fixture.stop());

  async function refreshed(client: Client, token: string): Promise<Tokens> {
    const answer = await refresh(fixture, client, token);
    expect(answer.status, answer.body.toString()).to.equal(200);
    return tokensOf(answer);
  }

  /** Makes the token two minutes older. */
  async function age(token: string): Promise<void> {
    const { oauth } = fixture.store.console;
    const encryption = createEncryption(CONSOLE_SECRET, 'oauth');
    const _id = documentId('RefreshToken', token);
    const payload = openPayload(encryption, await oauth.findOne({ _id }))!;
    const iat = Number(payload['iat']) - 120;
    await oauth.updateOne(
      { _id },
      { $set: { payload: encryption.encrypt(JSON.stringify({ ...payload, iat }), _id) } },
    );
  }

  it('return one refresh token, even when one of them already uses the new one', async () => {
    const { client, refresh_token: old } = await authorizeApp(fixture, person);
    const first = await refreshed(client, old);
    const second = await refreshed(client, first.refresh_token);
    const late = await refreshed(client, old);
    expect([second.refresh_token, late.refresh_token]).to.deep.equal([
      first.refresh_token,
      first.refresh_token,
    ]);
    for (const { access_token } of [first, second, late])
      expect(await accessOf(fixture, access_token)).to.include({ user: person.id });
  });

  it('return a new refresh token after two minutes', async () => {
    const { client, refresh_token: old } = await authorizeApp(fixture, person);
    const { refresh_token: first } = await refreshed(client, old);
    await age(first);
    const { refresh_token: second } = await refreshed(client, first);
    expect(second).to.not.equal(first);
    // A repeated use after so long ends the consent.
    expect((await refresh(fixture, client, old)).status).to.equal(400);
    expect((await refresh(fixture, client, second)).status).to.equal(400);
  });
});
