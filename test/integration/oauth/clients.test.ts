// @proves client-registration
// How apps identify themselves: registrations and metadata documents like those of existing apps,
// and the ones that are rejected.
import { expect } from 'chai';
import { pino } from 'pino';
import { clientMetadata } from '../../../api/console/oauth/client-metadata.ts';
import {
  type ConsoleFixture,
  consoleFixture,
  type TestUser,
} from '../../support/console/console-fixture.ts';
import { DOCUMENTS, REGISTRATIONS } from '../../support/console/oauth-client-samples.ts';
import {
  accessOf,
  answerConsent,
  authorizeApp,
  authorizePath,
  browser,
  type Client,
  jsonOf,
  newClient,
  oauthErrorOf,
  openConsent,
  pkce,
  redeem,
  refresh,
  registerClient,
  tokenCall,
  tokensOf,
} from '../../support/console/oauth-flow.ts';
import { keptForMs } from '../../support/console/stored-tokens.ts';
import { eventsCounted } from '../../support/counted.ts';

interface Registered {
  client_id: string;
  client_secret?: string;
  redirect_uris: string[];
  token_endpoint_auth_method: string;
}

describe('OAuth apps', () => {
  let fixture: ConsoleFixture;
  let person: TestUser;
  /** Documents by URL. */
  const documents = new Map<string, unknown>();
  const fetched: string[] = [];
  /** URLs that respond 403, like some bot protection. */
  const forbidden = new Set<string>();
  const lines: Record<string, unknown>[] = [];
  const log = pino(
    { level: 'info' },
    { write: (line: string) => void lines.push(JSON.parse(line)) },
  );
  before(async () => {
    fixture = await consoleFixture({
      workers: 0,
      log,
      clientFetch: async url => {
        fetched.push(String(url));
        if (forbidden.has(String(url))) return new Response(null, { status: 403 });
        const document = documents.get(String(url));
        if (!document) throw new Error('no such document');
        return Response.json(clientMetadata(document, 'document'));
      },
    });
    person = await fixture.createUser({ role: 'developer' });
  });
  after(() => fixture.stop());

  /** The consent page. */
  async function pageFor(client: Client, more?: Record<string, string>): Promise<string> {
    const userBrowser = browser(fixture, person.cookie);
    return (
      await userBrowser.get(await openConsent(userBrowser, client, pkce().challenge, more))
    ).body.toString();
  }
  /** The response to an authorization request of this app. */
  const askAs = (id: string, redirectUri = 'https://client.example/cb') =>
    browser(fixture, person.cookie).get(authorizePath({ id, redirectUri }, pkce().challenge));

  describe('that register', () => {
    for (const [name, { metadata, used, scope, consentText }] of Object.entries(REGISTRATIONS))
      it(`complete the flow: ${name}`, async () => {
        const registered = await registerClient(fixture, metadata);
        expect(registered.status, registered.body.toString()).to.equal(201);
        const {
          client_id,
          client_secret,
          redirect_uris,
          token_endpoint_auth_method: way,
        } = jsonOf<Registered>(registered);
        expect(redirect_uris).to.deep.equal(metadata['redirect_uris']);
        const client: Client = { id: client_id, redirectUri: used ?? redirect_uris[0]! };
        const { verifier, challenge } = pkce();
        const userBrowser = browser(fixture, person.cookie);
        const page = await openConsent(userBrowser, client, challenge, {
          scope: scope ?? String(metadata['scope'] ?? 'render'),
        });
        const shown = (await userBrowser.get(page)).body.toString();
        expect(shown).to.include(consentText);
        if (metadata['client_name']) expect(shown).to.include(`named “${metadata['client_name']}”`);
        const back = await answerConsent(userBrowser, page);
        expect(back.href.startsWith(client.redirectUri), back.href).to.equal(true);
        const code = back.searchParams.get('code')!;
        const basic = {
          authorization: `Basic ${Buffer.from(`${client_id}:${client_secret}`).toString('base64')}`,
        };
        const form = {
          grant_type: 'authorization_code',
          code,
          redirect_uri: client.redirectUri,
          code_verifier: verifier,
        };
        const answer =
          way === 'client_secret_basic'
            ? await tokenCall(fixture, form, basic)
            : await redeem(
                fixture,
                client,
                code,
                verifier,
                client_secret === undefined ? {} : { client_secret },
              );
        expect(answer.status, answer.body.toString()).to.equal(200);
        const { access_token, refresh_token } = tokensOf(answer);
        expect(refresh_token).to.be.a('string');
        expect(await accessOf(fixture, access_token)).to.include({
          user: person.id,
          clientId: client.id,
        });
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
      'search:query=x',
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
      it(`cannot register the redirect URI ${JSON.stringify(uri)}`, async () => {
        const answer = await registerClient(fixture, {
          redirect_uris: ['https://app.example/good', uri],
        });
        expect(answer.status).to.equal(400);
        expect(oauthErrorOf(answer)).to.equal('invalid_redirect_uri');
        expect(answer.headers['access-control-allow-origin']).to.equal('*');
      });

    it('are rejected with invalid or large metadata', async () => {
      const uris = ['https://app.example/cb'];
      const bad: [unknown, string][] = [
        [[], 'invalid_client_metadata'],
        ['text', 'invalid_client_metadata'],
        [{}, 'invalid_redirect_uri'],
        [{ redirect_uris: [] }, 'invalid_redirect_uri'],
        [{ redirect_uris: 'https://app.example/cb' }, 'invalid_redirect_uri'],
        [
          { redirect_uris: Array.from({ length: 21 }, (_, n) => `https://app.example/${n}`) },
          'invalid_redirect_uri',
        ],
        [{ redirect_uris: [`https://app.example/${'x'.repeat(1_000)}`] }, 'invalid_redirect_uri'],
        [{ redirect_uris: uris, client_name: 7 }, 'invalid_client_metadata'],
        [
          { redirect_uris: uris, token_endpoint_auth_method: 'private_key_jwt' },
          'invalid_client_metadata',
        ],
      ];
      for (const [metadata, error] of bad) {
        const answer = await registerClient(fixture, metadata);
        expect(
          `${answer.status} ${oauthErrorOf(answer)}`,
          JSON.stringify(metadata).slice(0, 80),
        ).to.equal(`400 ${error}`);
      }
      expect(
        (await registerClient(fixture, { redirect_uris: uris, client_name: 'x'.repeat(40_000) }))
          .status,
      ).to.equal(400);
    });

    it('are shown with an escaped name in one line, at most 100 characters long', async () => {
      const client = await newClient(fixture, {
        client_name: `<b>Evil</b>\n\u202eApp\u0000 ${'long '.repeat(100)}`,
      });
      const shown = await pageFor(client);
      const name = /named “([^”]*)”/.exec(shown)![1]!;
      expect(name).to.match(/^&lt;b&gt;Evil&lt;\/b&gt; App long/);
      expect(name.length).to.be.below(130);
      expect(name).not.to.match(/[\u202e\n]/);
    });

    it('cannot end the quotation of their name on the page', async () => {
      const client = await newClient(fixture, {
        client_name: 'Claude” (from claude.ai). Note: “"\u3164',
      });
      const shown = await pageFor(client);
      expect(/named “([^”]*)” wants/.exec(shown)?.[1]).to.equal(
        'Claude&#39; (from claude.ai). Note: &#39;&#39;',
      );
    });

    it('expire after 30 days without a consent, and after 400 days with one', async () => {
      const daysOf = async ({ id }: Client) =>
        Math.round((await keptForMs(fixture, 'Client', id)) / 86_400e3);
      const client = await newClient(fixture);
      expect(await daysOf(client)).to.equal(30);
      await authorizeApp(fixture, person, { client });
      expect(await daysOf(client)).to.equal(400);
    });
  });

  describe('with a metadata document', () => {
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
      it(`complete the flow: ${name}`, async () => {
        documents.set(document.client_id, document);
        const client = { id: document.client_id, redirectUri: used ?? document.redirect_uris[0]! };
        const shown = await pageFor(client, { scope: 'render offline_access' });
        expect(shown).to.include(`(from <strong>${new URL(document.client_id).host}</strong>)`);
        const tokens = await authorizeApp(fixture, person, { client });
        expect(await accessOf(fixture, tokens.access_token)).to.include({ clientId: client.id });
        // Some apps repeat their original scopes.
        const again = await refresh(fixture, client, tokens.refresh_token, {
          scope: 'render offline_access',
        });
        expect(again.status, again.body.toString()).to.equal(200);
        expect(tokensOf(again).scope).to.equal('render');
      });

    it('are rejected when they support only private_key_jwt', async () => {
      const only = 'https://client.example/key.json';
      documents.set(only, {
        client_id: only,
        redirect_uris: ['https://client.example/cb'],
        token_endpoint_auth_method: 'private_key_jwt',
        token_endpoint_auth_methods_supported: ['private_key_jwt'],
      });
      expect((await askAs(only)).status).to.equal(400);
    });

    it('complete the flow, shown with the host of their document', async () => {
      const client = { id, redirectUri: 'http://127.0.0.1:5555/callback' };
      const shown = await pageFor(client);
      expect(shown).to.include('(from <strong>client.example</strong>)');
      const tokens = await authorizeApp(fixture, person, { client });
      expect(await accessOf(fixture, tokens.access_token)).to.include({ clientId: id });
      expect((await refresh(fixture, client, tokens.refresh_token)).status).to.equal(200);
      expect(fetched.filter(url => url === id)).to.have.length(1);
    });

    it('cause an error page, a log line and a metric when their document cannot be read', async () => {
      const before = await eventsCounted(fixture, 'document_unreadable');
      const address = 'https://client.example/rejected.json';
      forbidden.add(address);
      const answer = await askAs(address);
      expect(answer.status).to.equal(400);
      expect(answer.body.toString()).to.include('Could not read the client metadata document');
      expect(
        lines.filter(({ msg }) => msg === 'could not read the metadata document of an app').at(-1),
      ).to.include({
        host: 'client.example',
        reason: 'the site responded with status 403',
      });
      expect(await eventsCounted(fixture, 'document_unreadable')).to.be.above(before);
    });

    it('cannot use a redirect URI that the document does not list', async () => {
      expect((await askAs(id, 'https://evil.example/cb')).status).to.equal(400);
    });

    it('are rejected when the document has another client_id, has an invalid redirect URI, or is missing', async () => {
      documents.set('https://client.example/other.json', {
        client_id: id,
        redirect_uris: ['https://client.example/cb'],
      });
      const bad = 'https://client.example/bad.json';
      documents.set(bad, { client_id: bad, redirect_uris: ['http://client.example/cb'] });
      for (const wrong of [
        'https://client.example/other.json',
        bad,
        'https://client.example/none.json',
      ]) {
        const answer = await askAs(wrong);
        expect(answer.status, wrong).to.equal(400);
        expect(answer.headers).not.to.have.property('location');
      }
    });
  });
});
