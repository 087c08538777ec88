// @proves client-registration
// Rules of the OAuth server for all apps: one resource, grant types, bounded bodies, rate limits
// and metrics.
import { expect } from 'chai';
import { clientMetadata } from '../../../api/console/oauth/client-metadata.ts';
import { createOAuthLimits } from '../../../api/console/oauth/oauth-limits.ts';
import {
  CONSOLE_SECRET,
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
  type Client,
  locationOf,
  newClient,
  oauthErrorOf,
  openConsent,
  pkce,
  RESOURCE,
  redeem,
  refresh,
  registerClient,
  revoke,
  tokenCall,
  tokensOf,
} from '../../support/console/oauth-flow.ts';
import { usedBeforeMs } from '../../support/console/stored-tokens.ts';
import { callsCounted, eventsCounted } from '../../support/counted.ts';

describe('the rules of the OAuth server', () => {
  let fixture: ConsoleFixture;
  let person: TestUser;
  let client: Client;
  const fetched: string[] = [];
  before(async () => {
    fixture = await consoleFixture({
      workers: 0,
      env: { PRESSROOM_TRUSTED_PROXIES: '127.0.0.1/32' },
      clientFetch: async url => {
        fetched.push(String(url));
        return Response.json(
          clientMetadata(
            { client_id: String(url), redirect_uris: ['https://client.example/cb'] },
            'document',
          ),
        );
      },
    });
    person = await fixture.createUser({ role: 'developer' });
    client = await newClient(fixture);
  });
  after(() => fixture.stop());

  describe('the resource', () => {
    const requestFor = (resources: string[]) => {
      const { verifier, challenge } = pkce();
      const more = resources.map(resource => `&${new URLSearchParams({ resource })}`).join('');
      return {
        verifier,
        path: `${authorizePath(client, challenge, { resource: undefined })}${more}`,
      };
    };

    it('may be repeated, but not combined with another', async () => {
      const both = locationOf(
        await browser(fixture, person.cookie).get(
          requestFor([RESOURCE, 'https://other.example/mcp']).path,
        ),
      );
      expect(both.searchParams.get('error')).to.equal('invalid_target');
      const userBrowser = browser(fixture, person.cookie);
      const { verifier, path } = requestFor([RESOURCE, RESOURCE]);
      const back = await answerConsent(
        userBrowser,
        locationOf(await userBrowser.get(path)).pathname,
      );
      const { access_token } = tokensOf(
        await redeem(fixture, client, back.searchParams.get('code')!, verifier),
      );
      expect(await accessOf(fixture, access_token)).to.include({ user: person.id });
    });

    it('is the only one of a refresh token, whether it is named or not', async () => {
      const { refresh_token } = await authorizeApp(fixture, person, { client });
      const other = await refresh(fixture, client, refresh_token, {
        resource: 'https://other.example/mcp',
      });
      expect(oauthErrorOf(other)).to.equal('invalid_target');
      const named = tokensOf(await refresh(fixture, client, refresh_token, { resource: RESOURCE }));
      const unnamed = tokensOf(await refresh(fixture, client, named.refresh_token));
      for (const { access_token } of [named, unnamed])
        expect(await accessOf(fixture, access_token)).to.include({ user: person.id });
    });
  });

  it('rejects other grant types', async () => {
    for (const grant_type of [
      'password',
      'client_credentials',
      'urn:ietf:params:oauth:grant-type:device_code',
      'implicit',
      '',
    ])
      expect(['unsupported_grant_type', 'invalid_request'], grant_type).to.include(
        oauthErrorOf(
          await tokenCall(fixture, {
            grant_type,
            client_id: client.id,
            username: 'x',
            password: 'x',
          }),
        ),
      );
  });

  it('bounds the body of a token request', async () => {
    const answer = await tokenCall(fixture, {
      grant_type: 'refresh_token',
      client_id: client.id,
      refresh_token: 'x'.repeat(40_000),
    });
    expect([answer.status, answer.error().code]).to.deep.equal([400, 'payload_too_large']);
    const json = await fixture.call(
      'POST',
      '/oauth/token',
      { 'content-type': 'application/json' },
      '{}',
    );
    expect([json.status, oauthErrorOf(json)]).to.deep.equal([400, 'invalid_request']);
  });

  describe('the rate limit of an address', () => {
    /** Counts previous calls of this address. */
    const count = async (
      what: 'registration' | 'authorization' | 'document',
      times: number,
      ip: string,
    ) => {
      const limit = createOAuthLimits(fixture.store, CONSOLE_SECRET);
      await limit(what, ip);
      await Promise.all(Array.from({ length: times - 1 }, () => limit(what, ip)));
    };
    const get = (path: string, ip: string) =>
      fixture.call('GET', path, {
        'x-forwarded-for': ip,
        accept: 'text/html',
        cookie: person.cookie,
      });

    it('applies to authorization requests', async () => {
      await count('authorization', 600, '192.0.2.20');
      const answer = await get(authorizePath(client, pkce().challenge), '192.0.2.20');
      expect(answer.status).to.equal(429);
      expect(Number(answer.headers['retry-after'])).to.be.within(3_500, 3_600);
      expect(answer.headers['content-type']).to.match(/^text\/html/);
      expect((await get(authorizePath(client, pkce().challenge), '192.0.2.21')).status).to.equal(
        303,
      );
    });

    it('applies to metadata documents that are not cached', async () => {
      const path = (n: number) =>
        authorizePath(
          { id: `https://client.example/${n}.json`, redirectUri: 'https://client.example/cb' },
          pkce().challenge,
        );
      await count('document', 119, '192.0.2.30');
      expect((await get(path(1), '192.0.2.30')).status).to.equal(303);
      expect((await get(path(2), '192.0.2.30')).status).to.equal(400);
      expect((await get(path(1), '192.0.2.30')).status).to.equal(303);
      expect((await get(path(2), '192.0.2.31')).status).to.equal(303);
      expect(fetched).to.deep.equal([1, 2].map(n => `https://client.example/${n}.json`));
    });

    it('applies to registrations', async () => {
      const from = (ip: string) =>
        registerClient(
          fixture,
          { redirect_uris: ['https://app.example/cb'] },
          { 'x-forwarded-for': ip },
        );
      await count('registration', 99, '192.0.2.40');
      expect((await from('192.0.2.40')).status).to.equal(201);
      const rejected = await from('192.0.2.40');
      expect(rejected.status).to.equal(429);
      expect(Number(rejected.headers['retry-after'])).to.be.within(3_500, 3_600);
      expect((await from('192.0.2.41')).status).to.equal(201);
    });
  });

  it('counts events by type', async () => {
    const names = [
      'client_registered',
      'consent_allowed',
      'consent_denied',
      'tokens_issued',
      'tokens_refreshed',
      'tokens_repeated',
      'tokens_refused',
      'reuse_detected',
      'consent_ended',
    ];
    const all = () => Promise.all(names.map(name => eventsCounted(fixture, name)));
    const before = await all();
    const succeeded = await callsCounted(fixture, '/oauth/token', 'ok');
    const own = await newClient(fixture);
    const userBrowser = browser(fixture, person.cookie);
    await answerConsent(userBrowser, await openConsent(userBrowser, own, pkce().challenge), {
      answer: 'cancel',
    });
    const first = await authorizeApp(fixture, person, { client: own });
    await refresh(fixture, own, first.refresh_token);
    await refresh(fixture, own, first.refresh_token);
    await usedBeforeMs(fixture, first.refresh_token, 61_000);
    await refresh(fixture, own, first.refresh_token);
    await refresh(fixture, own, 'unknown');
    await revoke(fixture, own, (await authorizeApp(fixture, person, { client: own })).access_token);
    expect((await all()).map((now, index) => now - before[index]!)).to.deep.equal([
      1, 2, 1, 2, 2, 1, 1, 1, 2,
    ]);
    expect(await callsCounted(fixture, '/oauth/token', 'ok')).to.equal(succeeded + 4);
  });
});
