// @proves consent, authorization-codes, access-tokens, refresh-tokens
// Attacks by an app or on its traffic: redirects, PKCE, stolen codes and stolen tokens.
import { createHash } from 'node:crypto';
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
  type Client,
  codeOf,
  jsonOf,
  locationOf,
  newClient,
  oauthErrorOf,
  openConsent,
  PUBLIC_URL,
  pkce,
  RESOURCE,
  redeem,
  refresh,
  registerClient,
  revoke,
  type Tokens,
  tokenCall,
  tokensOf,
} from '../../support/console/oauth-flow.ts';
import { endAccess, keptForMs, usedBeforeMs } from '../../support/console/stored-tokens.ts';

describe('the OAuth server under attack', () => {
  let fixture: ConsoleFixture;
  let person: TestUser;
  let client: Client;
  before(async () => {
    fixture = await consoleFixture({ workers: 0 });
    person = await fixture.createUser({ role: 'developer' });
    client = await newClient(fixture);
  });
  after(() => fixture.stop());

  const ask = (more: Record<string, string | undefined>, of = client) =>
    browser(fixture, person.cookie).get(authorizePath(of, pkce().challenge, more));

  describe('an authorization request', () => {
    it('shows an error page for an unregistered redirect URI', async () => {
      const answer = await ask({ redirect_uri: 'https://evil.example/callback' });
      expect(answer.status).to.equal(400);
      expect(answer.headers).not.to.have.property('location');
      expect(answer.headers['content-type']).to.match(/^text\/html/);
      expect(answer.headers['content-security-policy']).to.include("default-src 'none'");
      const page = answer.body.toString();
      expect(page)
        .to.include('a redirect URI that it did not register')
        .and.not.include('http://fonts');
    });

    it('shows an error page with a link instead of redirecting to a site', async () => {
      const site = await newClient(fixture, { redirect_uris: ['https://evil.example/login?x=1'] });
      for (const more of [
        { response_type: 'token' },
        { response_type: 'token', response_mode: 'form_post' },
        { response_mode: 'web_message' },
        { code_challenge: undefined },
        { prompt: 'none' },
        { resource: 'https://other.example/' },
      ]) {
        const answer = await ask(more, site);
        expect([answer.status, answer.headers['location']], JSON.stringify(more)).to.deep.equal([
          400,
          undefined,
        ]);
        const page = answer.body.toString();
        expect(page).to.include('Could not connect the app').and.not.include('<form');
        expect(page).to.match(
          /<a href="https:\/\/evil\.example\/login\?x=1&amp;error=[^"]*iss=[^"]*" rel="noreferrer">Back to the app \(evil\.example\)</,
        );
      }
    });

    it('redirects errors to a loopback address only, and shows a link to an app with a custom scheme', async () => {
      for (const uri of ['http://localhost:7/cb', 'http://127.0.0.1:7/cb', 'http://[::1]:7/cb']) {
        const local = await newClient(fixture, { redirect_uris: [uri] });
        expect(locationOf(await ask({ prompt: 'none' }, local)).href).to.include(
          `${uri}?error=consent_required`,
        );
      }
      for (const uri of ['cursor://anysphere.cursor-mcp/cb', 'com.example.app:/cb']) {
        const program = await newClient(fixture, { redirect_uris: [uri] });
        for (const more of [
          { prompt: 'none' },
          { response_type: 'none' },
          { resource: 'https://other.example/' },
        ]) {
          const answer = await ask(more, program);
          expect([answer.status, answer.headers['location']], uri).to.deep.equal([400, undefined]);
          expect(answer.body.toString())
            .to.include(`<a href="${uri}?error=`)
            .and.include(`Back to the app (${new URL(uri).protocol})`);
        }
      }
    });

    it('accepts any port of the registered loopback URI, but no other path', async () => {
      expect(
        locationOf(await ask({ redirect_uri: 'http://127.0.0.1:50001/callback' })).pathname,
      ).to.match(/^\/app\/allow\//);
      expect((await ask({ redirect_uri: 'http://127.0.0.1:50001/other' })).status).to.equal(400);
      expect((await ask({ redirect_uri: 'http://localhost:50001/callback' })).status).to.equal(400);
    });

    it('requires PKCE with S256', async () => {
      for (const more of [
        { code_challenge: undefined, code_challenge_method: undefined },
        { code_challenge_method: undefined },
        { code_challenge_method: 'plain' },
      ]) {
        const back = locationOf(await ask(more));
        expect(`${back.origin}${back.pathname}`, JSON.stringify(more)).to.equal(client.redirectUri);
        expect(back.searchParams.get('error')).to.equal('invalid_request');
        expect(back.searchParams.get('iss')).to.equal(PUBLIC_URL);
      }
    });

    it('rejects response types that return tokens in the URL', async () => {
      for (const response_type of ['token', 'id_token', 'code token', 'code id_token']) {
        const answer = await ask({ response_type });
        const back = locationOf(answer);
        expect(`${back.search}${back.hash}`, response_type)
          .to.include('unsupported_response_type')
          .and.not.include('access_token');
      }
    });

    it('is rejected for another resource', async () => {
      for (const resource of ['https://other.example/mcp', PUBLIC_URL, `${RESOURCE}/`]) {
        const back = locationOf(await ask({ resource }));
        expect(back.searchParams.get('error'), resource).to.equal('invalid_target');
      }
    });

    it('defaults to the resource of the tool', async () => {
      const { code, verifier } = await codeOf(fixture, person, {
        client,
        asking: { resource: undefined, scope: undefined },
      });
      const form = {
        grant_type: 'authorization_code',
        client_id: client.id,
        redirect_uri: client.redirectUri,
      };
      const answer = await tokenCall(fixture, { ...form, code, code_verifier: verifier });
      expect(await accessOf(fixture, tokensOf(answer).access_token)).to.include({
        user: person.id,
      });
    });

    it('returns consent_required for prompt=none', async () => {
      const back = locationOf(await ask({ prompt: 'none' }));
      expect(back.searchParams.get('error')).to.equal('consent_required');
    });

    it('rejects an unknown app', async () => {
      const answer = await ask({ client_id: 'unknown' });
      expect(answer.status).to.equal(400);
      expect(answer.body.toString()).to.include('is not registered with this installation');
    });

    it('requires consent again for an app that was allowed before in the same browser', async () => {
      const userBrowser = browser(fixture, person.cookie);
      await answerConsent(userBrowser, await openConsent(userBrowser, client, pkce().challenge));
      expect(await openConsent(userBrowser, client, pkce().challenge)).to.match(/^\/app\/allow\//);
    });
  });

  describe('an authorization code', () => {
    it('is rejected without its code verifier', async () => {
      const { code } = await codeOf(fixture, person, { client });
      expect(oauthErrorOf(await redeem(fixture, client, code, pkce().verifier))).to.equal(
        'invalid_grant',
      );
      const without = {
        grant_type: 'authorization_code',
        client_id: client.id,
        code,
        redirect_uri: client.redirectUri,
      };
      expect((await tokenCall(fixture, without)).status).to.equal(400);
    });

    it('is rejected from another app', async () => {
      const { code, verifier } = await codeOf(fixture, person, { client });
      const other = await newClient(fixture);
      expect(oauthErrorOf(await redeem(fixture, other, code, verifier))).to.equal('invalid_grant');
    });

    it('works once, and revokes its tokens on a second use', async () => {
      const { code, verifier } = await codeOf(fixture, person, { client });
      const tokens = tokensOf(await redeem(fixture, client, code, verifier));
      expect(await accessOf(fixture, tokens.access_token)).to.include({ user: person.id });
      expect(oauthErrorOf(await redeem(fixture, client, code, verifier))).to.equal('invalid_grant');
      expect(await accessOf(fixture, tokens.access_token)).to.equal(undefined);
      expect(oauthErrorOf(await refresh(fixture, client, tokens.refresh_token))).to.equal(
        'invalid_grant',
      );
    });

    it('issues at most one set of tokens to concurrent calls, and revokes it', async () => {
      const { code, verifier } = await codeOf(fixture, person, { client });
      const answers = await Promise.all(
        Array.from({ length: 6 }, () => redeem(fixture, client, code, verifier)),
      );
      const good = answers.filter(({ status }) => status === 200);
      expect(good.length).to.be.at.most(1);
      for (const answer of answers)
        if (good.includes(answer))
          expect(await accessOf(fixture, tokensOf(answer).access_token)).to.equal(undefined);
        else expect(oauthErrorOf(answer)).to.equal('invalid_grant');
    });

    it('is rejected for another resource', async () => {
      const { code, verifier } = await codeOf(fixture, person, { client });
      const answer = await redeem(fixture, client, code, verifier, {
        resource: 'https://other.example/mcp',
      });
      expect(oauthErrorOf(answer)).to.equal('invalid_target');
    });
  });

  describe('a token', () => {
    it('is accepted for its resource only', async () => {
      const { access_token, refresh_token } = await authorizeApp(fixture, person, { client });
      expect(await accessOf(fixture, access_token, `${PUBLIC_URL}/other`)).to.equal(undefined);
      expect(await accessOf(fixture, refresh_token)).to.equal(undefined);
      expect(await accessOf(fixture, `${access_token}x`)).to.equal(undefined);
      const answer = await fixture.call('GET', '/console/v1/me', {
        authorization: `Bearer ${access_token}`,
      });
      expect(answer.status).to.equal(401);
    });

    it('is stored as a hash only', async () => {
      const tokens = await authorizeApp(fixture, person, { client });
      const all = JSON.stringify([
        await fixture.store.console.oauth.find().toArray(),
        await fixture.store.console.oauthGrants.find().toArray(),
        await fixture.store.console.audit.find().toArray(),
      ]);
      for (const secret of [tokens.access_token, tokens.refresh_token])
        expect(all).not.to.include(secret);
      expect(all).to.include(createHash('sha256').update(tokens.access_token).digest('base64url'));
    });

    it('expires after an hour', async () => {
      const { access_token } = await authorizeApp(fixture, person, { client });
      expect(await keptForMs(fixture, 'AccessToken', access_token)).to.be.within(
        3_500_000,
        3_600_000,
      );
      await endAccess(fixture, access_token);
      expect(await accessOf(fixture, access_token)).to.equal(undefined);
    });

    for (const [when, meanwhile] of [
      [
        'after its successor was used',
        (next: Tokens) => usedBeforeMs(fixture, next.refresh_token, 0),
      ],
      [
        'after a minute',
        (_: Tokens, first: Tokens) => usedBeforeMs(fixture, first.refresh_token, 61_000),
      ],
    ] as const)
      it(`is revoked with the consent when its refresh token is repeated ${when}`, async () => {
        const first = await authorizeApp(fixture, person, { client });
        const next = tokensOf(await refresh(fixture, client, first.refresh_token));
        await meanwhile(next, first);
        expect(await accessOf(fixture, next.access_token)).to.include({ user: person.id });
        expect(oauthErrorOf(await refresh(fixture, client, first.refresh_token))).to.equal(
          'invalid_grant',
        );
        for (const { access_token } of [first, next])
          expect(await accessOf(fixture, access_token)).to.equal(undefined);
        expect(oauthErrorOf(await refresh(fixture, client, next.refresh_token))).to.equal(
          'invalid_grant',
        );
      });

    it('is issued again with the same refresh token after a lost response', async () => {
      const first = await authorizeApp(fixture, person, { client });
      const lost = tokensOf(await refresh(fixture, client, first.refresh_token));
      const again = tokensOf(await refresh(fixture, client, first.refresh_token));
      expect(again.refresh_token).to.equal(lost.refresh_token);
      expect(await accessOf(fixture, again.access_token)).to.include({ user: person.id });
      expect((await refresh(fixture, client, again.refresh_token)).status).to.equal(200);
    });

    it('is issued with the same refresh token to concurrent refreshes', async () => {
      const { refresh_token } = await authorizeApp(fixture, person, { client });
      const answers = await Promise.all(
        Array.from({ length: 6 }, () => refresh(fixture, client, refresh_token)),
      );
      expect(answers.map(({ status }) => status)).to.deep.equal([200, 200, 200, 200, 200, 200]);
      const given = answers.map(tokensOf);
      expect(new Set(given.map(each => each.refresh_token)).size).to.equal(1);
      for (const { access_token } of given)
        expect(await accessOf(fixture, access_token)).to.include({ user: person.id });
    });

    it('is not issued to another app that repeats the refresh token', async () => {
      const first = await authorizeApp(fixture, person, { client });
      await refresh(fixture, client, first.refresh_token);
      expect(
        oauthErrorOf(await refresh(fixture, await newClient(fixture), first.refresh_token)),
      ).to.equal('invalid_grant');
      expect(await accessOf(fixture, first.access_token)).to.include({ user: person.id });
    });

    it('is refreshed by its own app only', async () => {
      const { refresh_token, access_token } = await authorizeApp(fixture, person, { client });
      const other = await newClient(fixture);
      expect(oauthErrorOf(await refresh(fixture, other, refresh_token))).to.equal('invalid_grant');
      expect(await accessOf(fixture, access_token)).to.include({ user: person.id });
    });

    for (const which of ['access_token', 'refresh_token'] as const)
      it(`is revoked at once when the app revokes its ${which}`, async () => {
        const tokens = await authorizeApp(fixture, person, { client });
        expect((await revoke(fixture, client, tokens[which])).status).to.equal(200);
        expect(await accessOf(fixture, tokens.access_token)).to.equal(undefined);
        expect(oauthErrorOf(await refresh(fixture, client, tokens.refresh_token))).to.equal(
          'invalid_grant',
        );
      });

    it('is not revoked by another app', async () => {
      const { access_token } = await authorizeApp(fixture, person, { client });
      expect((await revoke(fixture, await newClient(fixture), access_token)).status).to.equal(200);
      expect(await accessOf(fixture, access_token)).to.include({ user: person.id });
    });

    it('is issued to an app with a secret only when the secret is sent', async () => {
      const redirectUri = 'https://app.example/cb';
      const registered = await registerClient(fixture, {
        redirect_uris: [redirectUri],
        token_endpoint_auth_method: 'client_secret_post',
      });
      const { client_id, client_secret } = jsonOf(registered);
      const secretive = { id: client_id!, redirectUri };
      const { code, verifier } = await codeOf(fixture, person, { client: secretive });
      expect((await redeem(fixture, secretive, code, verifier)).status).to.equal(401);
      expect(
        (await redeem(fixture, secretive, code, verifier, { client_secret: 'wrong' })).status,
      ).to.equal(401);
      expect(
        (await redeem(fixture, secretive, code, verifier, { client_secret: client_secret! }))
          .status,
      ).to.equal(200);
    });
  });
});
