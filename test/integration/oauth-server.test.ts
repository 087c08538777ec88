// What the OAuth server says of itself, what its switches do, and that any API process goes on where another began.
import { expect } from 'chai';
import { type ConsoleRig, consoleRig, type Person } from '../support/console-rig.ts';
import type { Answer } from '../support/http-call.ts';
import {
  answered,
  askedAt,
  authorizePath,
  browser,
  codeOf,
  locationOf,
  newClient,
  PUBLIC_URL,
  pkce,
  RESOURCE,
  redeem,
  refresh,
  registerClient,
  walk,
} from '../support/oauth-walk.ts';

const json = (answer: Answer) => JSON.parse(answer.body.toString()) as Record<string, unknown>;

describe('the OAuth server', () => {
  let rig: ConsoleRig;
  let person: Person;
  before(async () => {
    rig = await consoleRig({ workers: 0 });
    person = await rig.person({ role: 'developer' });
  });
  after(() => rig.stop());

  const metadata = async (path: string, of: ConsoleRig = rig) => {
    const answer = await of.call('GET', path, { host: 'evil.example', 'x-forwarded-host': 'evil.example' });
    return { status: answer.status, headers: answer.headers, body: answer.status === 200 ? json(answer) : {} };
  };

  it('says what it is at every path at which clients look, from the public URL alone', async () => {
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
      expect(JSON.stringify(body)).not.to.include('evil').and.not.include('implicit').and.not.include('openid');
      expect(headers['access-control-allow-origin']).to.equal('*');
    }
  });

  it('lets pages of other origins call, without cookies', async () => {
    for (const path of ['/oauth/token', '/oauth/register', '/oauth/revoke', '/.well-known/oauth-authorization-server']) {
      const asked = {
        origin: 'https://inspector.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type',
      };
      const answer = await rig.call('OPTIONS', path, asked);
      expect(answer.status, path).to.equal(204);
      expect(['*', 'https://inspector.example']).to.include(answer.headers['access-control-allow-origin']);
      expect(answer.headers).not.to.have.property('access-control-allow-credentials');
    }
    const resource = await rig.call('GET', '/.well-known/oauth-protected-resource/mcp', { origin: 'https://inspector.example' });
    expect(resource.headers['access-control-allow-origin']).to.equal('*');
  });

  it('says nothing of what is switched off, and it is off', async () => {
    const off = await consoleRig({ workers: 0, uri: rig.uri, env: { PRESSROOM_MCP_DCR: 'off', PRESSROOM_MCP_CIMD: 'off' } });
    try {
      const { body } = await metadata('/.well-known/oauth-authorization-server', off);
      expect(body).not.to.have.any.keys('registration_endpoint', 'client_id_metadata_document_supported');
      expect((await registerClient(off, { redirect_uris: ['https://app.example/cb'] })).status).to.equal(404);
      const asked = authorizePath({ id: 'https://client.example/app.json', redirectUri: 'https://client.example/cb' }, pkce().challenge);
      expect((await browser(off, person.cookie).get(asked)).status).to.equal(400);
      // Who registered before goes on.
      expect((await walk(off, person, { client: await newClient(rig) })).scope).to.equal('render');
    } finally {
      await off.stop();
    }
  });

  it('keeps to https where the public URL has it, whatever came to the process itself', async () => {
    const secure = await consoleRig({ workers: 0, uri: rig.uri, env: { PRESSROOM_PUBLIC_URL: 'https://pdf.example.com' } });
    try {
      const client = await newClient(secure, { redirect_uris: ['https://app.example/cb'] });
      const { verifier, challenge } = pkce();
      const resource = 'https://pdf.example.com/mcp';
      const visitor = browser(secure, person.cookie);
      const asked = await visitor.get(authorizePath(client, challenge, { resource }));
      const cookies = asked.headers['set-cookie'] as unknown as string[];
      expect(cookies.length).to.be.at.least(2);
      for (const cookie of cookies)
        expect(cookie)
          .to.match(/; secure/i)
          .and.match(/; httponly/i)
          .and.match(/; samesite=lax/i)
          .and.match(/; path=\/(app\/allow|oauth\/authorize)\//);
      const back = await answered(visitor, locationOf(asked).pathname);
      expect(back.searchParams.get('iss')).to.equal('https://pdf.example.com');
      const tokens = json(await redeem(secure, client, back.searchParams.get('code')!, verifier, { resource }));
      expect(await secure.api.accessTokens!.verify(String(tokens['access_token']), resource)).to.include({ user: person.id });
    } finally {
      await secure.stop();
    }
  });

  it('is not there at all without the tool', async () => {
    const off = await consoleRig({ workers: 0, uri: rig.uri, env: { PRESSROOM_MCP: 'off' } });
    try {
      for (const path of ['/.well-known/oauth-authorization-server', '/oauth/authorize', '/oauth/jwks'])
        expect((await off.call('GET', path)).status, path).to.equal(404);
      expect(off.api.accessTokens).to.equal(undefined);
      expect((await (await off.person()).call('GET', '/me/apps')).status).to.equal(404);
    } finally {
      await off.stop();
    }
  });

  it('gives apps what they want whichever API process they come to', async () => {
    const second = await consoleRig({ workers: 0, uri: rig.uri });
    try {
      const client = await newClient(second);
      const { verifier, challenge } = pkce();
      // A round-robin: each step meets the other process.
      let turn = 0;
      const ports = { api: { port: () => [rig, second][turn++ % 2]!.api.port() } };
      const visitor = browser(ports, person.cookie);
      const back = await answered(visitor, await askedAt(visitor, client, challenge));
      const redeemed = json(await redeem(ports, client, back.searchParams.get('code')!, verifier));
      const again = json(await refresh(ports, client, String(redeemed['refresh_token'])));
      for (const { api } of [rig, second])
        expect(await api.accessTokens!.verify(String(again['access_token']), RESOURCE)).to.include({ user: person.id });
      // Twice at once, at both.
      const { code, verifier: other } = await codeOf(second, person, { client });
      const both = await Promise.all([rig, second].map(each => redeem(each, client, code, other)));
      expect(both.filter(({ status }) => status === 200).length).to.be.at.most(1);
      const keys = await Promise.all([rig, second].map(each => each.call('GET', '/oauth/jwks')));
      expect(json(keys[0]!)).to.deep.equal(json(keys[1]!));
      expect(JSON.stringify(json(keys[0]!))).not.to.include('"d"');
    } finally {
      await second.stop();
    }
  });

  it('leads to the app by way of itself alone', async () => {
    const client = await newClient(rig);
    const visitor = browser(rig, person.cookie);
    const page = await askedAt(visitor, client, pkce().challenge);
    expect(locationOf(await visitor.post(page, { user: person.id, account: rig.accountId, answer: 'cancel' })).origin).to.equal(PUBLIC_URL);
  });
});
