// @proves client-metadata-documents
// The site with an app's metadata document is temporarily down: the app keeps its tokens, and
// people see the reason.
import { expect } from 'chai';
import {
  type ConsoleFixture,
  consoleFixture,
  type TestUser,
} from '../../support/console/console-fixture.ts';
import {
  authorizeApp,
  authorizePath,
  browser,
  CALLBACK,
  oauthErrorOf,
  pkce,
  redeem,
  refresh,
  revoke,
} from '../../support/console/oauth-flow.ts';

const CLIENT = { id: 'https://app.example/client.json', redirectUri: CALLBACK };
const DOCUMENT = {
  client_id: CLIENT.id,
  redirect_uris: [CALLBACK],
  token_endpoint_auth_method: 'none',
  application_type: 'native',
};
const GOOD = {
  ...DOCUMENT,
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
};

describe('an app whose metadata document cannot be read', () => {
  let answer: () => Response = () => Response.json(GOOD);
  const clientFetch = async () => answer();
  let fixture: ConsoleFixture;
  /** Another API process, which has not read the document yet. */
  let fresh: ConsoleFixture;
  let person: TestUser;
  before(async () => {
    fixture = await consoleFixture({ workers: 0, clientFetch });
    fresh = await consoleFixture({ workers: 0, clientFetch, uri: fixture.uri });
    person = await fixture.createUser({ role: 'developer' });
  });
  after(async () => {
    await fresh?.stop();
    await fixture?.stop();
  });

  it('gets temporarily_unavailable, and keeps its tokens', async () => {
    const { refresh_token } = await authorizeApp(fixture, person, { client: CLIENT });
    const down = [
      () => {
        throw new Error('no answer');
      },
      () => new Response(null, { status: 502 }),
    ];
    for (answer of down)
      for (const call of [
        () => refresh(fresh, CLIENT, refresh_token),
        () => revoke(fresh, CLIENT, refresh_token),
        () => redeem(fresh, CLIENT, 'a code', 'a'.repeat(43)),
      ]) {
        const rejected = await call();
        expect([
          rejected.status,
          rejected.headers['retry-after'],
          oauthErrorOf(rejected),
        ]).to.deep.equal([503, '5', 'temporarily_unavailable']);
      }
    const page = await browser(fresh, person.cookie).get(authorizePath(CLIENT, pkce().challenge));
    expect(page.status).to.equal(400);
    expect(page.body.toString())
      .to.include('Could not read the client metadata document')
      .and.not.include('Remove the connection');
    answer = () => Response.json(GOOD);
    expect((await refresh(fresh, CLIENT, refresh_token)).status).to.equal(200);
  });

  it('causes one fetch for each authorization request', async () => {
    let fetches = 0;
    answer = () => {
      fetches += 1;
      throw new Error('no answer');
    };
    const unread = { ...CLIENT, id: 'https://app.example/unread.json' };
    const page = await browser(fixture, person.cookie).get(authorizePath(unread, pkce().challenge));
    expect([page.status, fetches]).to.deep.equal([400, 1]);
  });

  it('gets invalid_client when its site responds 404', async () => {
    answer = () => new Response(null, { status: 404 });
    const rejected = await refresh(
      fresh,
      { ...CLIENT, id: 'https://app.example/gone.json' },
      'a token',
    );
    expect([rejected.status, oauthErrorOf(rejected)]).to.deep.equal([400, 'invalid_client']);
  });
});
