// How apps make themselves known: registrations shaped like those of the apps there are, what is refused, documents of their own, and the switches of both.
import { expect } from 'chai';
import { clientMetadata } from '../../api/console/oauth/client-metadata.ts';
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

/** What each sends, as seen in the open: names, redirects, kinds of grants, ways to show who they are. */
const SHAPES: Record<string, { metadata: Record<string, unknown>; used?: string; words: string }> = {
  'Claude on the web': {
    metadata: {
      client_name: 'Claude',
      redirect_uris: ['https://claude.ai/api/mcp/auth_callback'],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
      scope: 'claudeai',
      client_uri: 'https://claude.ai',
      logo_uri: 'https://claude.ai/logo.png',
    },
    words: 'at claude.ai',
  },
  'Claude Code': {
    metadata: {
      client_name: 'Claude Code (pressroom)',
      redirect_uris: ['http://localhost:54545/callback'],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    },
    used: 'http://localhost:61234/callback',
    words: 'on this computer (localhost:61234)',
  },
  ChatGPT: {
    metadata: {
      client_name: 'ChatGPT',
      redirect_uris: ['https://chatgpt.com/connector_platform_oauth_redirect'],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'client_secret_post',
    },
    words: 'at chatgpt.com',
  },
  'VS Code on this computer': {
    metadata: {
      client_name: 'Visual Studio Code',
      client_uri: 'https://code.visualstudio.com',
      grant_types: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
      response_types: ['code'],
      redirect_uris: ['http://127.0.0.1:33418', 'http://127.0.0.1:33418/', 'https://vscode.dev/redirect'],
      scope: 'render offline_access',
      token_endpoint_auth_method: 'none',
      application_type: 'native',
    },
    used: 'http://127.0.0.1:50321/',
    words: 'on this computer (127.0.0.1:50321)',
  },
  'VS Code by its redirect page': {
    metadata: {
      client_name: 'Visual Studio Code',
      grant_types: ['authorization_code'],
      response_types: ['code'],
      redirect_uris: ['http://127.0.0.1:33418', 'https://vscode.dev/redirect'],
      token_endpoint_auth_method: 'none',
      application_type: 'native',
    },
    used: 'https://vscode.dev/redirect',
    words: 'at vscode.dev',
  },
  Cursor: {
    metadata: {
      client_name: 'Cursor',
      redirect_uris: ['cursor://anysphere.cursor-mcp/oauth/callback'],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    },
    words: 'in the program that opens cursor: links',
  },
  'an app that says as little as it can': {
    metadata: { redirect_uris: ['https://app.example/cb'], application_type: 'web' },
    words: 'An app that says no name',
  },
};

describe('apps', () => {
  let rig: ConsoleRig;
  let person: Person;
  /** Documents by address. */
  const documents = new Map<string, unknown>();
  const fetched: string[] = [];
  before(async () => {
    rig = await consoleRig({
      workers: 0,
      clientFetch: async url => {
        fetched.push(String(url));
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
    for (const [name, { metadata, used, words }] of Object.entries(SHAPES))
      it(`come through the whole way: ${name}`, async () => {
        const registered = await registerClient(rig, metadata);
        expect(registered.status, registered.body.toString()).to.equal(201);
        const { client_id, client_secret, redirect_uris } = json(registered);
        expect(redirect_uris).to.deep.equal(metadata['redirect_uris']);
        const client: Client = { id: String(client_id), redirectUri: used ?? (metadata['redirect_uris'] as string[])[0]! };
        const { verifier, challenge } = pkce();
        const visitor = browser(rig, person.cookie);
        const page = await askedAt(visitor, client, challenge, { scope: String(metadata['scope'] ?? 'render') });
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

    it('are bounded in number for each address', async () => {
      const other = await consoleRig({ workers: 0, uri: rig.uri, env: { PRESSROOM_TRUSTED_PROXIES: '127.0.0.1/32' } });
      try {
        const from = (ip: string) => registerClient(other, { redirect_uris: ['https://app.example/cb'] }, { 'x-forwarded-for': ip });
        const statuses: number[] = [];
        for (let n = 0; n < 101; n += 1) statuses.push((await from('192.0.2.7')).status);
        expect(statuses.slice(0, 100).every(status => status === 201)).to.equal(true);
        expect(statuses.at(-1)).to.equal(429);
        const refused = await from('192.0.2.7');
        expect(refused.headers['retry-after']).to.equal('3600');
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
