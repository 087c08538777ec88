// @proves POST /mcp, oauth-metadata
// Authentication, origins and methods of the MCP endpoint, and client disconnects.
import { expect } from 'chai';
import { type ConsoleFixture, consoleFixture } from '../../support/console/console-fixture.ts';
import {
  earlierMessage,
  type Message,
  mcpCall,
  presentMessage,
  replyOf,
} from '../../support/console/mcp-call.ts';
import { authorizeApp, PUBLIC_URL } from '../../support/console/oauth-flow.ts';
import { heldBytes } from '../../support/counted.ts';
import { eventually } from '../../support/eventually.ts';
import { moreProcesses } from '../../support/more-processes.ts';
import { testDatabase } from '../../support/servers/mongod.ts';

const METADATA = `resource_metadata="${PUBLIC_URL}/.well-known/oauth-protected-resource/mcp", scope="render"`;

const LIST = earlierMessage('tools/list');

describe('authentication at /mcp', () => {
  let fixture: ConsoleFixture;
  let token: string;
  before(async () => {
    fixture = await consoleFixture({ env: { PRESSROOM_BODY_MAX: '64KiB' } });
    token = (await authorizeApp(fixture, await fixture.createUser({ role: 'developer' })))
      .access_token;
  });
  after(() => fixture.stop());

  const post = (message: Message, headers?: Record<string, string>) =>
    mcpCall(fixture, token, message, headers);

  it('points a call without a token to the metadata, before the body is read', async () => {
    const answer = await fixture.call(
      'POST',
      '/mcp',
      { 'content-type': 'application/json' },
      'no json',
    );
    expect(answer.status).to.equal(401);
    expect(answer.headers['www-authenticate']).to.equal(`Bearer ${METADATA}`);
  });

  it('responds invalid_token to a wrong token', async () => {
    for (const wrong of ['x', 'y'.repeat(43), fixture.key, `${token}x`]) {
      const answer = await post(LIST, { authorization: `Bearer ${wrong}` });
      expect(answer.status).to.equal(401);
      expect(answer.headers['www-authenticate'])
        .to.match(/^Bearer error="invalid_token", /)
        .and.include(METADATA);
    }
  });

  it('serves its metadata at both paths', async () => {
    for (const path of [
      '/.well-known/oauth-protected-resource',
      '/.well-known/oauth-protected-resource/mcp',
    ]) {
      const { status, body } = await fixture.call('GET', path);
      expect(status).to.equal(200);
      expect(JSON.parse(body.toString())).to.include({ resource: `${PUBLIC_URL}/mcp` });
      expect(JSON.parse(body.toString()).authorization_servers).to.deep.equal([PUBLIC_URL]);
    }
    expect((await fixture.call('GET', '/openapi.json')).body.toString()).to.include(
      `\`render_pdf\` at \`${PUBLIC_URL}/mcp\``,
    );
  });

  it('rejects other origins, with a token or without', async () => {
    for (const origin of [
      'http://evil.example',
      'http://localhost:8081',
      'https://localhost:8080',
      'null',
    ]) {
      const answers = [
        await post(LIST, { origin }),
        await fixture.call('POST', '/mcp', { origin, 'content-type': 'application/json' }, '{}'),
      ];
      for (const answer of answers)
        expect([answer.status, answer.error().code]).to.deep.equal([403, 'forbidden']);
    }
    expect((await post(LIST, { origin: PUBLIC_URL })).status).to.equal(200);
  });

  it('responds 405 to other methods than POST', async () => {
    for (const method of ['GET', 'DELETE', 'PUT']) {
      const answer = await fixture.call(method, '/mcp', { authorization: `Bearer ${token}` });
      expect(answer.status).to.equal(405);
      expect(answer.headers['allow']).to.include('POST');
    }
  });

  it('points other methods without a token to the metadata', async () => {
    for (const method of ['GET', 'HEAD', 'DELETE']) {
      const answer = await fixture.call(method, '/mcp');
      expect([answer.status, answer.headers['www-authenticate']]).to.deep.equal([
        401,
        `Bearer ${METADATA}`,
      ]);
    }
  });

  it('rejects an invalid message, a batch and a large body with a message', async () => {
    for (const body of ['{', [], [LIST.body, LIST.body], { html: 'x'.repeat(70_000) }]) {
      const answer = await post({ body });
      expect(answer.status).to.equal(400);
      expect(answer.error().message).to.be.a('string').that.is.not.empty;
    }
    for (const body of ['null', '{}']) expect((await post({ body })).status).to.equal(400);
    expect((await post(LIST, { 'content-type': 'text/plain' })).status).to.equal(400);
  });

  it('rejects subscriptions to changes', async () => {
    const answer = await post(
      presentMessage('subscriptions/listen', { notifications: { toolsListChanged: true } }),
    );
    expect(replyOf(answer).error!.message).to.equal('Subscription limit reached');
  });

  it('cancels the render and releases its memory when the client disconnects', async () => {
    const given = { name: 'render_pdf', arguments: { html: 'x', wait_for_expression: 'false' } };
    for (const messageOf of [earlierMessage, presentMessage])
      for (const accept of ['application/json', 'application/json, text/event-stream']) {
        const call = mcpCall(fixture, token, messageOf('tools/call', given), { accept });
        call.catch(() => {});
        await fixture.worker.until({ busy: 1 });
        call.disconnect();
        await fixture.worker.until({ busy: 0 });
        await eventually(async () => expect(await fixture.running()).to.equal(0));
        await eventually(async () => expect(await heldBytes(fixture)).to.equal(0));
      }
  });

  for (const state of ['unpaid', 'canceled', 'paused'] as const)
    it(`rejects renders of an account that is ${state}, and says how to fix it, until it is active again`, async () => {
      const account = await fixture.account2('starter');
      const { access_token } = await authorizeApp(
        fixture,
        await fixture.createUser({ role: 'owner', account }),
        {
          account,
        },
      );
      const render = async () => {
        const message = earlierMessage('tools/call', {
          name: 'render_pdf',
          arguments: { html: '<p>x</p>', sandbox: true },
        });
        return replyOf(await mcpCall(fixture, access_token, message)).result!;
      };
      await fixture.accounts.setAccountById(account, { state });
      const { isError, content } = await render();
      expect(isError).to.equal(true);
      expect(content[0]!.text).to.match(
        /^subscription_inactive: Your (account is suspended|subscription is (unpaid|canceled))\. Contact your administrator, or see http:\/\/localhost:8080\/app/,
      );
      await fixture.accounts.setAccountById(account, { state: 'active' });
      expect((await render()).content[0]!.text).to.include('The PDF is ready');
    });
});

describe('the MCP endpoint, when it is turned off', () => {
  const another = moreProcesses();

  it('responds 404, as do its metadata, OAuth and links', async () => {
    const { uri } = await testDatabase();
    const fixture = await another({ uri }, { env: { PRESSROOM_MCP: 'off' } });
    const resource = '/.well-known/oauth-protected-resource';
    const oauth = ['/.well-known/oauth-authorization-server', '/oauth/authorize', '/oauth/jwks'];
    for (const path of ['/mcp', resource, ...oauth, `/files/${'a'.repeat(43)}`])
      expect((await fixture.call('GET', path)).status, path).to.equal(404);
    expect((await (await fixture.createUser()).call('GET', '/me/apps')).status).to.equal(404);
    expect(fixture.api.accessTokens).to.equal(undefined);
    expect((await fixture.call('GET', '/openapi.json')).body.toString()).not.to.include('/mcp');
  });
});
