// Rules of the OAuth server that hold whichever app comes: one resource, who answers, how much an address may ask for, and who may still act when the call comes.
import { expect } from 'chai';
import { documentId } from '../../api/console/oauth/adapter.ts';
import { clientMetadata } from '../../api/console/oauth/client-metadata.ts';
import { createOAuthLimits } from '../../api/console/oauth/oauth-limits.ts';
import { CONSOLE_SECRET, type ConsoleRig, consoleRig, type Person } from '../support/console-rig.ts';
import type { Answer } from '../support/http-call.ts';
import { mcpClient, textOf } from '../support/mcp-rig.ts';
import {
  answered,
  askedAt,
  authorizePath,
  browser,
  type Client,
  codeOf,
  locationOf,
  newClient,
  PUBLIC_URL,
  pkce,
  RESOURCE,
  redeem,
  refresh,
  registerClient,
  revoke,
  type Tokens,
  tokenCall,
  walk,
} from '../support/oauth-walk.ts';

describe('the rules of the OAuth server', function () {
  this.timeout(60_000);
  let rig: ConsoleRig;
  let person: Person;
  let client: Client;
  const fetched: string[] = [];
  before(async () => {
    rig = await consoleRig({
      workers: 0,
      env: { PRESSROOM_TRUSTED_PROXIES: '127.0.0.1/32', PRESSROOM_QUEUE_TIMEOUT: '100ms', PRESSROOM_QUEUE_TIMEOUT_NO_WORKER: '100ms' },
      clientFetch: async url => {
        fetched.push(String(url));
        return Response.json(clientMetadata({ client_id: String(url), redirect_uris: ['https://client.example/cb'] }, 'document'));
      },
    });
    person = await rig.person({ role: 'developer' });
    client = await newClient(rig);
  });
  after(() => rig.stop());

  const errorOf = (answer: Answer) => (JSON.parse(answer.body.toString()) as { error: string }).error;
  const tokensOf = (answer: Answer) => JSON.parse(answer.body.toString()) as Tokens;
  const verify = (token: string) => rig.api.accessTokens!.verify(token, RESOURCE);
  const metric = async (name: string) =>
    Number(new RegExp(`^${name.replace(/[{}"]/g, '\\$&')} (\\d+)$`, 'm').exec(await rig.metrics.text())?.[1]);

  describe('one resource', () => {
    const asking = (resources: string[]) => {
      const { verifier, challenge } = pkce();
      const more = resources.map(resource => `&${new URLSearchParams({ resource })}`).join('');
      return { verifier, path: `${authorizePath(client, challenge, { resource: undefined })}${more}` };
    };

    it('may be named twice, and no other beside it', async () => {
      const both = locationOf(await browser(rig, person.cookie).get(asking([RESOURCE, 'https://other.example/mcp']).path));
      expect(both.searchParams.get('error')).to.equal('invalid_target');
      const visitor = browser(rig, person.cookie);
      const { verifier, path } = asking([RESOURCE, RESOURCE]);
      const back = await answered(visitor, locationOf(await visitor.get(path)).pathname);
      const { access_token } = tokensOf(await redeem(rig, client, back.searchParams.get('code')!, verifier));
      expect(await verify(access_token)).to.include({ user: person.id });
    });

    it('is all that a refresh token gives, whether it is named or not', async () => {
      const { refresh_token } = await walk(rig, person, { client });
      const other = await refresh(rig, client, refresh_token, { resource: 'https://other.example/mcp' });
      expect(errorOf(other)).to.equal('invalid_target');
      const named = tokensOf(await refresh(rig, client, refresh_token, { resource: RESOURCE }));
      const unnamed = tokensOf(await refresh(rig, client, named.refresh_token));
      for (const { access_token } of [named, unnamed]) expect(await verify(access_token)).to.include({ user: person.id });
    });
  });

  it('tells the app who answers when the person cancels and when the app asks wrongly', async () => {
    const visitor = browser(rig, person.cookie);
    const cancelled = await answered(visitor, await askedAt(visitor, client, pkce().challenge), { answer: 'cancel' });
    const wrong = locationOf(await browser(rig, person.cookie).get(authorizePath(client, 'too short')));
    for (const back of [cancelled, wrong]) {
      expect(back.searchParams.get('error')).to.be.a('string');
      expect(back.searchParams.get('iss')).to.equal(PUBLIC_URL);
    }
  });

  it('knows no other kind of grant, and no app by a password alone', async () => {
    for (const grant_type of ['password', 'client_credentials', 'urn:ietf:params:oauth:grant-type:device_code', 'implicit', ''])
      expect(['unsupported_grant_type', 'invalid_request'], grant_type).to.include(
        errorOf(await tokenCall(rig, { grant_type, client_id: client.id, username: 'x', password: 'x' })),
      );
  });

  it('bounds what it reads', async () => {
    const answer = await tokenCall(rig, { grant_type: 'refresh_token', client_id: client.id, refresh_token: 'x'.repeat(40_000) });
    expect([answer.status, answer.error().code]).to.deep.equal([400, 'payload_too_large']);
    const json = await rig.call('POST', '/oauth/token', { 'content-type': 'application/json' }, '{}');
    expect([json.status, errorOf(json)]).to.deep.equal([400, 'invalid_request']);
  });

  describe('how much one address may ask for', () => {
    /** As if this address had asked so often. */
    const asked = async (what: 'registration' | 'authorization' | 'document', times: number, ip: string) => {
      const limit = createOAuthLimits(rig.store, CONSOLE_SECRET);
      await limit(what, ip);
      await Promise.all(Array.from({ length: times - 1 }, () => limit(what, ip)));
    };
    const get = (path: string, ip: string) => rig.call('GET', path, { 'x-forwarded-for': ip, accept: 'text/html', cookie: person.cookie });

    it('is bounded for consents', async () => {
      await asked('authorization', 600, '192.0.2.20');
      const answer = await get(authorizePath(client, pkce().challenge), '192.0.2.20');
      expect(answer.status).to.equal(429);
      expect(Number(answer.headers['retry-after'])).to.be.within(3_500, 3_600);
      expect(answer.headers['content-type']).to.match(/^text\/html/);
      expect((await get(authorizePath(client, pkce().challenge), '192.0.2.21')).status).to.equal(303);
    });

    it('is bounded for documents, of which those that are known are asked for no more', async () => {
      const path = (n: number) =>
        authorizePath({ id: `https://client.example/${n}.json`, redirectUri: 'https://client.example/cb' }, pkce().challenge);
      await asked('document', 119, '192.0.2.30');
      expect((await get(path(1), '192.0.2.30')).status).to.equal(303);
      expect((await get(path(2), '192.0.2.30')).status).to.equal(400);
      expect((await get(path(1), '192.0.2.30')).status).to.equal(303);
      expect((await get(path(2), '192.0.2.31')).status).to.equal(303);
      expect(fetched).to.deep.equal([1, 2].map(n => `https://client.example/${n}.json`));
    });

    it('is bounded for registrations', async () => {
      await asked('registration', 100, '192.0.2.40');
      const answer = await registerClient(rig, { redirect_uris: ['https://app.example/cb'] }, { 'x-forwarded-for': '192.0.2.40' });
      expect(answer.status).to.equal(429);
    });
  });

  describe('a person', () => {
    it('who is disabled gives no tokens for a code from before, and is served no more', async () => {
      const other = await rig.person({ role: 'developer' });
      const { access_token } = await walk(rig, other, { client });
      const { code, verifier } = await codeOf(rig, other, { client });
      await rig.store.console.users.updateOne({ _id: other.id }, { $set: { disabled: true } });
      expect(errorOf(await redeem(rig, client, code, verifier))).to.equal('invalid_grant');
      const answer = await rig.call('POST', '/mcp', { authorization: `Bearer ${access_token}`, 'content-type': 'application/json' }, '{}');
      expect([answer.status, answer.headers['www-authenticate']?.includes('invalid_token')]).to.deep.equal([401, true]);
    });

    for (const state of ['unpaid', 'canceled', 'paused'] as const)
      it(`whose account is ${state} is told so by the tool, and goes on when it is mended`, async () => {
        const account = await rig.account2('starter');
        const other = await rig.person({ role: 'owner', account });
        const { access_token } = await walk(rig, other, { client, account });
        const mcp = await mcpClient('earlier', rig.url, access_token);
        try {
          await rig.accounts.setAccountById(account, { state });
          const answer = await mcp.render({ html: '<p>x</p>' });
          expect(answer.isError).to.equal(true);
          expect(textOf(answer)).to.match(/^subscription_inactive: /);
          expect(await verify(access_token)).to.include({ account });
          await rig.accounts.setAccountById(account, { state: 'active' });
          // There is no worker here.
          expect(textOf(await mcp.render({ html: '<p>x</p>' }))).to.match(/^render_failed /);
        } finally {
          await mcp.close();
        }
      });
  });

  it('counts what happens', async () => {
    const event = (name: string) => metric(`pressroom_oauth_events_total{type="${name}"}`);
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
    const all = () => Promise.all(names.map(event));
    const before = await all();
    const own = await newClient(rig);
    const visitor = browser(rig, person.cookie);
    await answered(visitor, await askedAt(visitor, own, pkce().challenge), { answer: 'cancel' });
    const first = await walk(rig, person, { client: own });
    await refresh(rig, own, first.refresh_token);
    await refresh(rig, own, first.refresh_token);
    const _id = documentId('RefreshToken', first.refresh_token);
    await rig.store.console.oauth.updateOne({ _id }, { $set: { consumedAt: new Date(Date.now() - 61_000) } });
    await refresh(rig, own, first.refresh_token);
    await refresh(rig, own, 'unknown');
    await revoke(rig, own, (await walk(rig, person, { client: own })).access_token);
    expect((await all()).map((now, index) => now - before[index]!)).to.deep.equal([1, 2, 1, 2, 2, 1, 1, 1, 2]);
    expect(await metric('pressroom_http_requests_total{route="/oauth/token",outcome="ok"}')).to.be.at.least(4);
  });
});
