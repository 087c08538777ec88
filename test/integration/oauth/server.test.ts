// @proves oauth-metadata, oauth-replicas
// The metadata of the OAuth server, its settings, and flows across several API processes.
import { expect } from 'chai';
import {
  type ConsoleFixture,
  consoleFixture,
  type TestUser,
} from '../../support/console/console-fixture.ts';
import {
  accessOf,
  answerConsent,
  authorizeApp,
  authorizePath,
  browser,
  codeOf,
  jsonOf,
  locationOf,
  newClient,
  oauthErrorOf,
  openConsent,
  PUBLIC_URL,
  pkce,
  redeem,
  refresh,
  registerClient,
  tokensOf,
} from '../../support/console/oauth-flow.ts';
import { inTurn, moreProcesses } from '../../support/more-processes.ts';

describe('the OAuth server', () => {
  let fixture: ConsoleFixture;
  let person: TestUser;
  before(async () => {
    fixture = await consoleFixture({ workers: 0 });
    person = await fixture.createUser({ role: 'developer' });
  });
  after(() => fixture.stop());
  const another = moreProcesses();

  const metadata = async (path: string, of: ConsoleFixture = fixture) => {
    const answer = await of.call('GET', path, {
      host: 'evil.example',
      'x-forwarded-host': 'evil.example',
    });
    return {
      status: answer.status,
      headers: answer.headers,
      body: answer.status === 200 ? jsonOf(answer) : {},
    };
  };

  it('serves its metadata at all well-known paths, based on the public URL', async () => {
    const expected = {
      issuer: PUBLIC_URL,
      authorization_endpoint: `${PUBLIC_URL}/oauth/authorize`,
      token_endpoint: `${PUBLIC_URL}/oauth/token`,
      registration_endpoint: `${PUBLIC_URL}/oauth/register`,
      revocation_endpoint: `${PUBLIC_URL}/oauth/revoke`,
      scopes_supported: ['render'],
      response_types_supported: ['code'],
      grant_types_supported: ['authorization_code', 'refresh_token'],
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['none', 'client_secret_basic', 'client_secret_post'],
      authorization_response_iss_parameter_supported: true,
      client_id_metadata_document_supported: true,
    };
    for (const path of [
      '/.well-known/oauth-authorization-server',
      '/.well-known/oauth-authorization-server/mcp',
      '/.well-known/openid-configuration',
    ]) {
      const { status, body, headers } = await metadata(path);
      expect(status, path).to.equal(200);
      expect(body, path).to.deep.include(expected);
      expect(JSON.stringify(body))
        .not.to.include('evil')
        .and.not.include('implicit')
        .and.not.include('openid');
      expect(headers['access-control-allow-origin']).to.equal('*');
    }
  });

  it('allows other origins, without cookies', async () => {
    for (const path of [
      '/oauth/token',
      '/oauth/register',
      '/oauth/revoke',
      '/.well-known/oauth-authorization-server',
    ]) {
      const asked = {
        origin: 'https://inspector.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type',
      };
      const answer = await fixture.call('OPTIONS', path, asked);
      expect(answer.status, path).to.equal(204);
      expect(['*', 'https://inspector.example']).to.include(
        answer.headers['access-control-allow-origin'],
      );
      expect(answer.headers).not.to.have.property('access-control-allow-credentials');
    }
    const resource = await fixture.call('GET', '/.well-known/oauth-protected-resource/mcp', {
      origin: 'https://inspector.example',
    });
    expect(resource.headers['access-control-allow-origin']).to.equal('*');
  });

  it('neither lists nor serves what is turned off', async () => {
    const off = await another(fixture, {
      env: { PRESSROOM_MCP_DCR: 'off', PRESSROOM_MCP_CIMD: 'off' },
    });
    const { body } = await metadata('/.well-known/oauth-authorization-server', off);
    expect(body).not.to.have.any.keys(
      'registration_endpoint',
      'client_id_metadata_document_supported',
    );
    expect(
      (await registerClient(off, { redirect_uris: ['https://app.example/cb'] })).status,
    ).to.equal(404);
    const asked = authorizePath(
      { id: 'https://client.example/app.json', redirectUri: 'https://client.example/cb' },
      pkce().challenge,
    );
    expect((await browser(off, person.cookie).get(asked)).status).to.equal(400);
    // An app that registered before continues to work.
    expect((await authorizeApp(off, person, { client: await newClient(fixture) })).scope).to.equal(
      'render',
    );
  });

  it('uses https when the public URL does, whatever the protocol of the call', async () => {
    const secure = await another(fixture, {
      env: { PRESSROOM_PUBLIC_URL: 'https://pdf.example.com' },
    });
    const client = await newClient(secure, { redirect_uris: ['https://app.example/cb'] });
    const { verifier, challenge } = pkce();
    const resource = 'https://pdf.example.com/mcp';
    const userBrowser = browser(secure, person.cookie);
    const asked = await userBrowser.get(authorizePath(client, challenge, { resource }));
    const cookies = asked.headers['set-cookie'] as unknown as string[];
    expect(cookies.length).to.be.at.least(2);
    for (const cookie of cookies)
      expect(cookie)
        .to.match(/; secure/i)
        .and.match(/; httponly/i)
        .and.match(/; samesite=lax/i)
        .and.match(/; path=\/(app\/allow|oauth\/authorize)\//);
    const back = await answerConsent(userBrowser, locationOf(asked).pathname);
    expect(back.searchParams.get('iss')).to.equal('https://pdf.example.com');
    const tokens = tokensOf(
      await redeem(secure, client, back.searchParams.get('code')!, verifier, { resource }),
    );
    expect(await accessOf(secure, tokens.access_token, resource)).to.include({ user: person.id });
  });

  it('completes a flow across API processes', async () => {
    const second = await another(fixture);
    const client = await newClient(second);
    const turns = inTurn([fixture, second], { round: true });
    const { code, verifier } = await codeOf(turns, person, { client });
    const redeemed = tokensOf(await redeem(turns, client, code, verifier));
    const again = tokensOf(await refresh(turns, client, redeemed.refresh_token));
    for (const each of [fixture, second])
      expect(await accessOf(each, again.access_token)).to.include({ user: person.id });
    const keys = await Promise.all([fixture, second].map(each => each.call('GET', '/oauth/jwks')));
    expect(jsonOf(keys[0]!)).to.deep.equal(jsonOf(keys[1]!));
    expect(keys[0]!.body.toString()).not.to.include('"d"');
  });

  it('issues at most one set of tokens for a code that two processes receive concurrently', async () => {
    const second = await another(fixture);
    const client = await newClient(fixture);
    const { code, verifier } = await codeOf(second, person, { client });
    const both = await Promise.all(
      [fixture, second].map(each => redeem(each, client, code, verifier)),
    );
    const rejected = both.filter(({ status }) => status !== 200);
    expect(rejected.length).to.be.at.least(1);
    for (const answer of rejected) expect(oauthErrorOf(answer)).to.equal('invalid_grant');
  });

  it('redirects from the consent page to its own origin first', async () => {
    const client = await newClient(fixture);
    const userBrowser = browser(fixture, person.cookie);
    const page = await openConsent(userBrowser, client, pkce().challenge);
    expect(
      locationOf(
        await userBrowser.post(page, {
          user: person.id,
          account: fixture.accountId,
          answer: 'cancel',
        }),
      ).origin,
    ).to.equal(PUBLIC_URL);
  });
});
