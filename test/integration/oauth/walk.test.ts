// The complete flow of an app over HTTP: registration, consent, code, tokens, refresh.
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
  PUBLIC_URL,
  refresh,
  tokensOf,
} from '../../support/console/oauth-flow.ts';

describe('the OAuth flow of an app', () => {
  let fixture: ConsoleFixture;
  let person: TestUser;
  before(async () => {
    fixture = await consoleFixture({ workers: 0 });
    person = await fixture.createUser({ role: 'developer' });
  });
  after(() => fixture.stop());

  it('ends with a token for the tool, bound to the user and account', async () => {
    const { access_token, refresh_token, expires_in, scope, token_type, client } =
      await authorizeApp(fixture, person);
    expect({ expires_in, scope, token_type }).to.deep.equal({
      expires_in: 3600,
      scope: 'render',
      token_type: 'Bearer',
    });
    expect(refresh_token).to.be.a('string');
    const access = await accessOf(fixture, access_token);
    expect(access).to.include({ user: person.id, account: fixture.accountId, clientId: client.id });
  });

  it('returns issuer and state to the app', async () => {
    const { back } = await codeOf(fixture, person);
    expect(back.searchParams.get('iss')).to.equal(PUBLIC_URL);
    expect(back.searchParams.get('state')).to.equal('a state');
  });

  it('returns new tokens for a refresh token', async () => {
    const { client, refresh_token } = await authorizeApp(fixture, person);
    const answer = await refresh(fixture, client, refresh_token);
    expect(answer.status).to.equal(200);
    const next = tokensOf(answer);
    expect(next.refresh_token).to.be.a('string').and.not.equal(refresh_token);
    expect(await accessOf(fixture, next.access_token)).to.include({ user: person.id });
  });
});
