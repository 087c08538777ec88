// @proves mcp-clients
// The whole OAuth and MCP flow with the official clients of both SDK versions: the user signs in and
// approves in a browser, and consecutive requests reach different API processes.
import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { documentId } from '../../api/console/oauth/adapter.ts';
import { clientMetadata } from '../../api/console/oauth/client-metadata.ts';
import { startBrowser, type TestBrowser } from '../support/browser.ts';
import { type ConsentingUser, consentingUser } from '../support/console/consenting-user.ts';
import {
  isUnauthorized,
  type McpClient,
  oauthClient,
  SDK_VERSIONS,
} from '../support/console/mcp-fixture.ts';
import { type OAuthApp, oauthApp } from '../support/console/oauth-app.ts';
import { endAccess } from '../support/console/stored-tokens.ts';
import { eventually } from '../support/eventually.ts';
import { httpCall } from '../support/http-call.ts';
import { pdfText } from '../support/pdf.ts';
import { type Replicas, replicas } from '../support/servers/replicas.ts';

const HELLO = { html: '<h1>Hello, world</h1>', metadata: { title: 'Greeting' } };
const DOCUMENT = 'https://client.example/app.json';

for (const line of SDK_VERSIONS)
  describe(`MCP client of the ${line} SDK`, function () {
    this.timeout(120_000);
    let both: Replicas;
    let browser: TestBrowser;
    let human: ConsentingUser;
    let app: OAuthApp;
    let client: McpClient | undefined;
    /** The redirect URIs in the client metadata document. */
    let redirects: string[];

    before(async () => {
      both = await replicas({
        clientFetch: async url => {
          expect(String(url)).to.equal(DOCUMENT);
          return Response.json(
            clientMetadata(
              { client_id: DOCUMENT, client_name: 'Documented', redirect_uris: redirects },
              'document',
            ),
          );
        },
      });
      browser = await startBrowser();
      human = await consentingUser(both.fixture, browser);
    });
    after(async () => {
      await browser?.close();
      await both?.stop();
    });
    beforeEach(async () => {
      app = await oauthApp('A Program');
    });
    afterEach(async () => {
      await client?.close();
      client = undefined;
      await human.useNewBrowser();
      await app.stop();
      await both.fixture.worker.until({ busy: 0 });
      await eventually(async () => expect(await both.fixture.running()).to.equal(0));
    });

    /** Opens the app's authorization URL in the browser and answers the consent. */
    async function ask(button: 'Allow' | 'Cancel' = 'Allow'): Promise<URLSearchParams> {
      await human.answer(app.sent.at(-1)!.href, button);
      return app.answer();
    }

    const connect = () => oauthClient(line, both.front.url, app.provider, ask);
    const lastGrant = () =>
      both.fixture.store.console.oauthGrants.findOne(
        { user: human.person.id },
        { sort: { createdAt: -1 } },
      );

    const expectWorking = async () =>
      expect((await client!.tools()).map(({ name }) => name)).to.deep.equal(['render_pdf']);
    const expectWorkingAgain = async () => {
      await client!.close();
      client = await connect();
      await expectWorking();
    };

    const rejection = async (calling: Promise<unknown>) =>
      calling.then(
        () => 'it was answered',
        error => (isUnauthorized(error) ? 'unauthorized' : String(error)),
      );

    it('goes from the first 401 to a PDF', async () => {
      const { front, fixture } = both;
      const from = front.served.length;
      client = await connect();
      const steps = front.served.slice(from);
      expect(steps.map(({ process }) => process)).to.deep.equal(
        steps.map((_, n) => (from + n) % 2),
      );
      expect(
        steps
          .map(({ method, path }) => `${method} ${path.replace(/(allow|authorize)\/.+/, '$1/…')}`)
          .slice(0, 13),
      ).to.deep.equal([
        'POST /mcp',
        'GET /.well-known/oauth-protected-resource/mcp',
        'GET /.well-known/oauth-authorization-server',
        'POST /oauth/register',
        'GET /oauth/authorize',
        'GET /app/allow/…',
        'GET /app/sign-in',
        'POST /app/sign-in',
        'GET /app/allow/…',
        'POST /app/allow/…',
        'GET /oauth/authorize/…',
        'POST /oauth/token',
        'POST /mcp',
      ]);
      await expectWorking();
      const { structuredContent: made, isError } = await client.render(HELLO);
      expect(isError ?? false).to.equal(false);
      const response = await fetch(made!.url);
      expect(response.status).to.equal(200);
      const pdf = Buffer.from(await response.arrayBuffer());
      expect(createHash('sha256').update(pdf).digest('hex')).to.equal(made!.sha256);
      expect(await pdfText(pdf)).to.include('Hello, world');
      expect(
        Buffer.from(await client.read(`render://${made!.render_id}`), 'base64').equals(pdf),
      ).to.equal(true);
      expect(await lastGrant()).to.include({ account: fixture.accountId, clientName: 'A Program' });
    });

    it('refreshes an expired access token', async () => {
      client = await connect();
      const before = app.kept.tokens!;
      await endAccess(both.fixture, app.kept.tokens!.access_token);
      expect((await client.render({ ...HELLO, sandbox: true })).isError ?? false).to.equal(false);
      expect(app.kept.tokens!.access_token).to.not.equal(before.access_token);
      expect(app.kept.tokens!.refresh_token).to.not.equal(before.refresh_token);
      expect(app.sent).to.have.length(1);
    });

    it('refreshes the token when the server rejects an 8 MiB request during upload', async () => {
      client = await connect();
      await endAccess(both.fixture, app.kept.tokens!.access_token);
      const html = `<h1>Hello</h1><!-- ${'x'.repeat(8 * 2 ** 20)} -->`;
      expect((await client.render({ html, sandbox: true })).isError ?? false).to.equal(false);
      expect(app.sent).to.have.length(1);
    });

    it('stays connected when the access token expires during concurrent calls', async () => {
      client = await connect();
      for (const _time of [1, 2]) {
        await endAccess(both.fixture, app.kept.tokens!.access_token);
        // The client of the earlier SDK fails a call that gets 401 just after another call has
        // refreshed the token.
        await Promise.allSettled(Array.from({ length: 4 }, () => client!.tools()));
        await expectWorking();
      }
      expect(app.sent).to.have.length(1);
    });

    it('authorizes again after the app revokes its tokens', async () => {
      client = await connect();
      expect(await app.revoke(app.kept.tokens!.refresh_token!)).to.equal(200);
      expect(await rejection(client.tools())).to.equal('unauthorized');
      expect(app.sent).to.have.length(2);
      expect(app.kept).to.not.have.property('tokens');
      await expectWorkingAgain();
    });

    it('authorizes again after the user disconnects the app', async () => {
      client = await connect();
      const { status } = await httpCall(
        Number(new URL(both.front.url).port),
        'DELETE',
        `/console/v1/me/apps/${(await lastGrant())!._id}`,
        {
          cookie: human.person.cookie,
          'sec-fetch-site': 'same-origin',
        },
      );
      expect(status).to.equal(204);
      expect(await rejection(client.render(HELLO))).to.equal('unauthorized');
      expect(app.sent).to.have.length(2);
      await expectWorkingAgain();
    });

    it('stops when the user denies access', async () => {
      const none = await oauthClient(line, both.front.url, app.provider, async () => {
        const answer = await ask('Cancel');
        expect(Object.fromEntries(answer)).to.include({
          error: 'access_denied',
          iss: both.front.url,
        });
        throw new Error('not allowed');
      }).catch((error: Error) => error.message);
      expect(none).to.equal('not allowed');
      expect(app.kept).to.not.have.property('tokens');
    });

    it('authenticates with its client secret if the app is confidential', async () => {
      await app.stop();
      app = await oauthApp('A Server', { secretless: false });
      client = await connect();
      expect(app.kept.client).to.have.property('client_secret');
      await endAccess(both.fixture, app.kept.tokens!.access_token);
      await expectWorking();
    });

    it('registers again when its registration was deleted', async () => {
      client = await connect();
      const { client_id } = app.kept.client!;
      await both.fixture.store.console.oauth.deleteOne({ _id: documentId('Client', client_id) });
      await endAccess(both.fixture, app.kept.tokens!.access_token);
      expect(await rejection(client.tools())).to.equal('unauthorized');
      expect(app.kept.client!.client_id).to.not.equal(client_id);
      await expectWorkingAgain();
    });

    it('does not register an app that has a client metadata document', async () => {
      await app.stop();
      app = await oauthApp('Documented', { documentUrl: DOCUMENT });
      redirects = [app.redirectUrl];
      const from = both.front.served.length;
      client = await connect();
      expect(both.front.served.slice(from).map(({ path }) => path)).to.not.include(
        '/oauth/register',
      );
      expect((await client.render({ ...HELLO, sandbox: true })).isError ?? false).to.equal(false);
      expect(await lastGrant()).to.include({ clientId: DOCUMENT, clientName: 'Documented' });
    });

    if (line === 'present')
      it('does not redeem a code from another issuer', async () => {
        const calling = oauthClient(line, both.front.url, app.provider, async () => {
          const answer = await ask();
          answer.set('iss', 'https://other.example');
          return answer;
        });
        expect(await rejection(calling)).to.match(/^IssuerMismatchError/);
        expect(both.front.served.at(-1)!.path).to.match(/^\/oauth\/authorize\//);
      });
  });
