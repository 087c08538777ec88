// How apps make themselves known: registrations shaped like those of the apps there are, what is refused, documents of their own, and the switches of both.
import { expect } from 'chai';
import { pino } from 'pino';
import { clientMetadata } from '../../api/console/oauth/client-metadata.ts';
import { DOCUMENTS, REGISTRATIONS } from '../support/chat-programs.ts';
import { type ConsoleRig, consoleRig, type Person } from '../support/console-rig.ts';
import type { Answer } from '../support/http-call.ts';
import {
  answered,
  askedAt,
  authorizePath,
  browser,
  type Client,
  newClient,
  pkce,
  RESOURCE,
  redeem,
  refresh,
  registerClient,
  walk,
} from '../support/oauth-walk.ts';

const json = (answer: Answer) => JSON.parse(answer.body.toString()) as Record<string, unknown>;

describe('apps', () => {
  let rig: ConsoleRig;
  let person: Person;
  /** Documents by address. */
  const documents = new Map<string, unknown>();
  const fetched: string[] = [];
  /** Addresses that keep servers out, as some providers of protection do. */
  const refusing = new Set<string>();
  const lines: Record<string, unknown>[] = [];
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  before(async () => {
    rig = await consoleRig({
      workers: 0,
      log,
      clientFetch: async url => {
        fetched.push(String(url));
        if (refusing.has(String(url))) return new Response(null, { status: 403 });
        const document = documents.get(String(url));
        if (!document) throw new Error('no such document');
        return Response.json(clientMetadata(document, 'document'));
      },
    });
    person = await rig.person({ role: 'developer' });
  });
  after(() => rig.stop());

  const verify = (token: string) => rig.api.accessTokens!.verify(token, RESOURCE);

  describe('that register', () => {
    for (const [name, { metadata, used, scope, words }] of Object.entries(REGISTRATIONS))
      it(`come through the whole way: ${name}`, async () => {
        const registered = await registerClient(rig, metadata);
        expect(registered.status, registered.body.toString()).to.equal(201);
        const { client_id, client_secret, redirect_uris } = json(registered);
        expect(redirect_uris).to.deep.equal(metadata['redirect_uris']);
        const client: Client = { id: String(client_id), redirectUri: used ?? (metadata['redirect_uris'] as string[])[0]! };
        const { verifier, challenge } = pkce();
        const visitor = browser(rig, person.cookie);
        const page = await askedAt(visitor, client, challenge, { scope: scope ?? String(metadata['scope'] ?? 'render') });
        const shown = (await visitor.get(page)).body.toString();
        expect(shown).to.include(words);
        if (metadata['client_name']) expect(shown).to.include(`calls itself “${metadata['client_name']}”`);
        const back = await answered(visitor, page);
        expect(back.href.startsWith(client.redirectUri), back.href).to.equal(true);
        const basic = { authorization: `Basic ${Buffer.from(`${client_id}:${client_secret}`).toString('base64')}` };
        const way = json(registered)['token_endpoint_auth_method'];
        const answer =
          way === 'client_secret_basic'
            ? await rig.call(
                'POST',
                '/oauth/token',
                { ...basic, 'content-type': 'application/x-www-form-urlencoded' },
                new URLSearchParams({
                  grant_type: 'authorization_code',
                  code: back.searchParams.get('code')!,
                  redirect_uri: client.redirectUri,
                  code_verifier: verifier,
                }).toString(),
              )
            : await redeem(
                rig,
                client,
                back.searchParams.get('code')!,
                verifier,
                client_secret ? { client_secret: String(client_secret) } : {},
              );
        expect(answer.status, answer.body.toString()).to.equal(200);
        expect(json(answer)).to.have.property('refresh_token');
        expect(await verify(String(json(answer)['access_token']))).to.include({ user: person.id, clientId: client.id });
      });

    for (const uri of [
      'http://app.example/cb',
      'http://192.168.0.1/cb',
      'javascript:alert(1)',
      'JavaScript:alert(1)',
      'data:text/html,x',
      'vbscript:x',
      'blob:https://app.example/x',
      'file:///etc/passwd',
      'about:blank',
      'view-source:https://app.example',
      'chrome-extension://x/y',
      'ms-msdt:/id',
      'search-ms:query=x',
      'microsoft-edge:https://app.example',
      'localhost:8080/cb',
      'https://app.example/cb#fragment',
      'https://user:password@app.example/cb',
      'https://app.example/\u0000cb',
      'no uri',
      '/relative',
      '',
    ])
      it(`register no ${JSON.stringify(uri)}`, async () => {
        const answer = await registerClient(rig, { redirect_uris: ['https://app.example/good', uri] });
        expect(answer.status).to.equal(400);
        expect(json(answer)['error']).to.equal('invalid_redirect_uri');
        expect(answer.headers['access-control-allow-origin']).to.equal('*');
      });

    it('say what they are in a bounded JSON object', async () => {
      const uris = ['https://app.example/cb'];
      const bad: [unknown, string][] = [
        [[], 'invalid_client_metadata'],
        ['text', 'invalid_client_metadata'],
        [{}, 'invalid_redirect_uri'],
        [{ redirect_uris: [] }, 'invalid_redirect_uri'],
        [{ redirect_uris: 'https://app.example/cb' }, 'invalid_redirect_uri'],
        [{ redirect_uris: Array.from({ length: 21 }, (_, n) => `https://app.example/${n}`) }, 'invalid_redirect_uri'],
        [{ redirect_uris: [`https://app.example/${'x'.repeat(1_000)}`] }, 'invalid_redirect_uri'],
        [{ redirect_uris: uris, client_name: 7 }, 'invalid_client_metadata'],
        [{ redirect_uris: uris, token_endpoint_auth_method: 'private_key_jwt' }, 'invalid_client_metadata'],
      ];
      for (const [metadata, error] of bad) {
        const answer = await registerClient(rig, metadata);
        expect(`${answer.status} ${json(answer)['error']}`, JSON.stringify(metadata).slice(0, 80)).to.equal(`400 ${error}`);
      }
      expect((await registerClient(rig, { redirect_uris: uris, client_name: 'x'.repeat(40_000) })).status).to.equal(400);
    });

    it('are shown by a name that is text, in one line, and short', async () => {
      const client = await newClient(rig, { client_name: `<b>Evil</b>\n\u202eApp\u0000 ${'long '.repeat(100)}` });
      const visitor = browser(rig, person.cookie);
      const shown = (await visitor.get(await askedAt(visitor, client, pkce().challenge))).body.toString();
      const name = /calls itself “([^”]*)”/.exec(shown)![1]!;
      expect(name).to.match(/^&lt;b&gt;Evil&lt;\/b&gt; App long/);
      expect(name.length).to.be.below(130);
      expect(name).not.to.match(/[\u202e\n]/);
    });

    it('say nothing in the words of the page, however they are called', async () => {
      const client = await newClient(rig, { client_name: 'Claude” (from claude.ai). Note: “"\u3164' });
      const visitor = browser(rig, person.cookie);
      const shown = (await visitor.get(await askedAt(visitor, client, pkce().challenge))).body.toString();
      expect(/calls itself “([^”]*)” asks/.exec(shown)?.[1]).to.equal('Claude&#39; (from claude.ai). Note: &#39;&#39;');
    });

    it('are bounded in number for each address', async () => {
      const other = await consoleRig({ workers: 0, uri: rig.uri, env: { PRESSROOM_TRUSTED_PROXIES: '127.0.0.1/32' } });
      try {
        const from = (ip: string) => registerClient(other, { redirect_uris: ['https://app.example/cb'] }, { 'x-forwarded-for': ip });
        const statuses: number[] = [];
        for (let n = 0; n < 101; n += 1) statuses.push((await from('192.0.2.7')).status);
        expect(statuses.slice(0, 100).every(status => status === 201)).to.equal(true);
        expect(statuses.at(-1)).to.equal(429);
        const refused = await from('192.0.2.7');
        expect(Number(refused.headers['retry-after'])).to.be.within(3_500, 3_600);
        expect((await from('192.0.2.8')).status).to.equal(201);
      } finally {
        await other.stop();
      }
    }).timeout(60_000);

    it('are forgotten when nobody allows them anything, and kept while somebody uses them', async () => {
      const daysOf = async (client: Client) => {
        const { createHash } = await import('node:crypto');
        const _id = `Client:${createHash('sha256').update(client.id).digest('base64url')}`;
        return Math.round(((await rig.store.console.oauth.findOne({ _id }))!.expiresAt.getTime() - Date.now()) / 86_400e3);
      };
      const client = await newClient(rig);
      expect(await daysOf(client)).to.equal(30);
      await walk(rig, person, { client });
      expect(await daysOf(client)).to.equal(400);
    });
  });

  describe('that describe themselves', () => {
    const id = 'https://client.example/app.json';
    before(() => {
      documents.set(id, {
        client_id: id,
        client_name: 'A Client',
        redirect_uris: ['http://127.0.0.1/callback', 'https://client.example/cb'],
        grant_types: ['authorization_code', 'refresh_token', 'something-new'],
        token_endpoint_auth_method: 'none',
        scope: 'render more',
        logo_uri: 'https://client.example/logo.png',
      });
    });

    for (const [name, { document, used }] of Object.entries(DOCUMENTS))
      it(`come through the whole way: ${name}`, async () => {
        documents.set(document.client_id, document);
        const client = { id: document.client_id, redirectUri: used ?? document.redirect_uris[0]! };
        const visitor = browser(rig, person.cookie);
        const shown = (
          await visitor.get(await askedAt(visitor, client, pkce().challenge, { scope: 'render offline_access' }))
        ).body.toString();
        expect(shown).to.include(`(from <strong>${new URL(document.client_id).host}</strong>)`);
        const tokens = await walk(rig, person, { client });
        expect(await verify(tokens.access_token)).to.include({ clientId: client.id });
        // Some ask again for all that they asked for at first.
        const again = await refresh(rig, client, tokens.refresh_token, { scope: 'render offline_access' });
        expect(again.status, again.body.toString()).to.equal(200);
        expect(json(again)['scope']).to.equal('render');
      });

    it('are not known when they can only show a key', async () => {
      const only = 'https://client.example/key.json';
      documents.set(only, {
        client_id: only,
        redirect_uris: ['https://client.example/cb'],
        token_endpoint_auth_method: 'private_key_jwt',
        token_endpoint_auth_methods_supported: ['private_key_jwt'],
      });
      const asked = authorizePath({ id: only, redirectUri: 'https://client.example/cb' }, pkce().challenge);
      expect((await browser(rig, person.cookie).get(asked)).status).to.equal(400);
    });

    it('come through the whole way, known by the host of their document', async () => {
      const client = { id, redirectUri: 'http://127.0.0.1:5555/callback' };
      const visitor = browser(rig, person.cookie);
      const shown = (await visitor.get(await askedAt(visitor, client, pkce().challenge))).body.toString();
      expect(shown).to.include('(from <strong>client.example</strong>)');
      const tokens = await walk(rig, person, { client });
      expect(await verify(tokens.access_token)).to.include({ clientId: id });
      expect((await refresh(rig, client, tokens.refresh_token)).status).to.equal(200);
      expect(fetched.filter(url => url === id)).to.have.length(1);
    });

    it('tell the person, and the operator, when their document cannot be read', async () => {
      const asked = authorizePath(
        { id: 'https://client.example/refused.json', redirectUri: 'https://client.example/cb' },
        pkce().challenge,
      );
      refusing.add('https://client.example/refused.json');
      const answer = await browser(rig, person.cookie).get(asked);
      expect(answer.status).to.equal(400);
      expect(answer.body.toString()).to.include('cannot read what the app says of itself');
      expect(lines.filter(({ msg }) => msg === 'the document of an app could not be read').at(-1)).to.include({
        host: 'client.example',
        reason: 'it was answered with 403',
      });
      expect(await rig.metrics.text()).to.match(/^pressroom_oauth_events_total\{type="document_unreadable"\} [1-9]/m);
    });

    it('go nowhere that the document does not name', async () => {
      const answer = await browser(rig, person.cookie).get(authorizePath({ id, redirectUri: 'https://evil.example/cb' }, pkce().challenge));
      expect(answer.status).to.equal(400);
    });

    it('are not known when the document is another’s, names bad redirects, or is not there', async () => {
      documents.set('https://client.example/other.json', { client_id: id, redirect_uris: ['https://client.example/cb'] });
      const bad = 'https://client.example/bad.json';
      documents.set(bad, { client_id: bad, redirect_uris: ['http://client.example/cb'] });
      for (const wrong of ['https://client.example/other.json', bad, 'https://client.example/none.json']) {
        const answer = await browser(rig, person.cookie).get(
          authorizePath({ id: wrong, redirectUri: 'https://client.example/cb' }, pkce().challenge),
        );
        expect(answer.status, wrong).to.equal(400);
        expect(answer.headers).not.to.have.property('location');
      }
    });
  });
});
