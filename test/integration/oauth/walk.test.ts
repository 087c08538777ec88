// An app gets its tokens: registration, consent, code, tokens, refresh, over real HTTP on a real
// database.
import { expect } from 'chai';
import { type ConsoleRig, consoleRig, type Person } from '../../support/console/console-rig.ts';
import {
  accessOf,
  codeOf,
  PUBLIC_URL,
  refresh,
  tokensOf,
  walk,
} from '../../support/console/oauth-walk.ts';

describe('the way of an app to its tokens', () => {
  let rig: ConsoleRig;
  let person: Person;
  before(async () => {
    rig = await consoleRig({ workers: 0 });
    person = await rig.person({ role: 'developer' });
  });
  after(() => rig.stop());

  it('ends with a token for the tool, bound to the person and their account', async () => {
    const { access_token, refresh_token, expires_in, scope, token_type, client } = await walk(
      rig,
      person,
    );
    expect({ expires_in, scope, token_type }).to.deep.equal({
      expires_in: 3600,
      scope: 'render',
      token_type: 'Bearer',
    });
    expect(refresh_token).to.be.a('string');
    const access = await accessOf(rig, access_token);
    expect(access).to.include({ user: person.id, account: rig.accountId, clientId: client.id });
  });

  it('tells the app who answers', async () => {
    const { back } = await codeOf(rig, person);
    expect(back.searchParams.get('iss')).to.equal(PUBLIC_URL);
    expect(back.searchParams.get('state')).to.equal('a state');
  });

  it('gives new tokens for a refresh token', async () => {
    const { client, refresh_token } = await walk(rig, person);
    const answer = await refresh(rig, client, refresh_token);
    expect(answer.status).to.equal(200);
    const next = tokensOf(answer);
    expect(next.refresh_token).to.be.a('string').and.not.equal(refresh_token);
    expect(await accessOf(rig, next.access_token)).to.include({ user: person.id });
  });
});
