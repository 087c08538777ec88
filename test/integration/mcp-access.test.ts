import { expect } from 'chai';
import { type ConsoleRig, consoleRig, type Person } from '../support/console-rig.ts';
import { eventually } from '../support/eventually.ts';
import { earlierMessage, mcpCall, presentMessage } from '../support/mcp-call.ts';
import { mcpClient, textOf } from '../support/mcp-rig.ts';
import { walk } from '../support/oauth-walk.ts';

const PUBLIC_URL = 'http://localhost:8080';
const METADATA = `resource_metadata="${PUBLIC_URL}/.well-known/oauth-protected-resource/mcp", scope="render"`;

const message = (method: string, params?: object) => JSON.stringify({ jsonrpc: '2.0', id: 1, method, ...(params && { params }) });

describe('the door of /mcp', function () {
  this.timeout(60_000);
  let rig: ConsoleRig;
  let developer: Person;
  let token: string;
  before(async () => {
    rig = await consoleRig({ env: { PRESSROOM_BODY_MAX: '64KiB' } });
    developer = await rig.person({ role: 'developer' });
    token = (await walk(rig, developer)).access_token;
  });
  after(() => rig.stop());

  const post = (body: string, headers: Record<string, string> = {}) =>
    rig.call(
      'POST',
      '/mcp',
      {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'content-length': String(Buffer.byteLength(body)),
        ...headers,
      },
      body,
    );

  it('sends who has no token to the metadata, without reading what comes', async () => {
    const answer = await rig.call('POST', '/mcp', { 'content-type': 'application/json' }, 'no json');
    expect(answer.status).to.equal(401);
    expect(answer.headers['www-authenticate']).to.equal(`Bearer ${METADATA}`);
  });

  it('tells who has a wrong token that it is wrong', async () => {
    for (const wrong of ['x', 'y'.repeat(43), rig.key, `${token}x`]) {
      const answer = await post(message('tools/list'), { authorization: `Bearer ${wrong}` });
      expect(answer.status).to.equal(401);
      expect(answer.headers['www-authenticate'])
        .to.match(/^Bearer error="invalid_token", /)
        .and.include(METADATA);
    }
  });

  it('describes itself at both forms of the address', async () => {
    for (const path of ['/.well-known/oauth-protected-resource', '/.well-known/oauth-protected-resource/mcp']) {
      const { status, body } = await rig.call('GET', path);
      expect(status).to.equal(200);
      expect(JSON.parse(body.toString())).to.include({ resource: `${PUBLIC_URL}/mcp` });
      expect(JSON.parse(body.toString()).authorization_servers).to.deep.equal([PUBLIC_URL]);
    }
    expect((await rig.call('GET', '/openapi.json')).body.toString()).to.include(`\`render_pdf\` at \`${PUBLIC_URL}/mcp\``);
  });

  it('takes nothing from a page of another site, with a token or without', async () => {
    for (const origin of ['http://evil.example', 'http://localhost:8081', 'https://localhost:8080', 'null']) {
      const answer = await post(message('tools/list'), { origin });
      expect([answer.status, answer.error().code]).to.deep.equal([403, 'forbidden']);
    }
    expect((await post(message('tools/list'), { origin: PUBLIC_URL })).status).to.equal(200);
  });

  it('takes posts alone', async () => {
    for (const method of ['GET', 'DELETE', 'PUT']) {
      const answer = await rig.call(method, '/mcp', { authorization: `Bearer ${token}` });
      expect(answer.status).to.equal(405);
      expect(answer.headers['allow']).to.include('POST');
    }
  });

  it('sends who knocks in another way and has no token to the metadata as well', async () => {
    for (const method of ['GET', 'HEAD', 'DELETE']) {
      const answer = await rig.call(method, '/mcp');
      expect([answer.status, answer.headers['www-authenticate']]).to.deep.equal([401, `Bearer ${METADATA}`]);
    }
  });

  it('answers what is no message, or too many of them, or too large, with a sentence', async () => {
    for (const body of ['{', '[]', `[${message('tools/list')},${message('tools/list')}]`, JSON.stringify({ html: 'x'.repeat(70_000) })]) {
      const answer = await post(body);
      expect(answer.status).to.equal(400);
      expect(answer.error().message).to.be.a('string').that.is.not.empty;
    }
    expect((await post('null')).status).to.equal(400);
    expect((await post('{}')).status).to.equal(400);
    expect((await post(message('tools/list'), { 'content-type': 'text/plain' })).status).to.equal(400);
  });

  it('keeps no connection open for who wants to be told of changes', async () => {
    const meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'x', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    const answer = await post(message('subscriptions/listen', { _meta: meta, notifications: { toolsListChanged: true } }), {
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'subscriptions/listen',
    });
    expect(JSON.parse(answer.body.toString()).error.message).to.equal('Subscription limit reached');
  });

  it('stops the render of a caller who hangs up, and holds nothing for them', async () => {
    const given = { name: 'render_pdf', arguments: { html: 'x', wait_for_expression: 'false' } };
    for (const messageOf of [earlierMessage, presentMessage])
      for (const accept of ['application/json', 'application/json, text/event-stream']) {
        const call = mcpCall(rig, token, messageOf('tools/call', given), { accept });
        call.catch(() => {});
        await rig.worker.until({ busy: 1 });
        call.hangUp();
        await rig.worker.until({ busy: 0 });
        await eventually(async () => expect(await rig.running()).to.equal(0));
        await eventually(async () => expect(await rig.metrics.text()).to.match(/^pressroom_in_flight_bytes(?:{.*})? 0$/m));
      }
  });

  it('cancels the calls of the same session alone', async () => {
    const call = { name: 'render_pdf', arguments: { html: 'x', wait_delay: '1s', sandbox: true } };
    const cancel = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } });
    const running = post(message('tools/call', call), { 'mcp-session-id': 'one' });
    await rig.worker.until({ busy: 1 });
    expect((await post(cancel, { 'mcp-session-id': 'another' })).status).to.equal(202);
    expect((await post(cancel)).status).to.equal(202);
    const { body } = await running;
    expect(body.toString()).to.include('The PDF is ready');
  });

  it('lets no one in whose place in the team is gone', async () => {
    const leaving = await rig.person({ role: 'developer' });
    const { access_token } = await walk(rig, leaving);
    const client = await mcpClient('earlier', rig.url, access_token);
    await rig.store.console.teams.updateOne({ _id: rig.accountId }, { $pull: { members: { user: leaving.id } } });
    const refused = await client.render({ html: 'x' }).then(textOf, (error: Error) => error);
    await client.close();
    expect(refused).to.be.instanceOf(Error);
  });
});

describe('/mcp, when it is switched off', () => {
  it('is not there, nor is anything that belongs to it', async () => {
    const rig = await consoleRig({ workers: 0, env: { PRESSROOM_MCP: 'off' } });
    const paths = ['/mcp', '/.well-known/oauth-protected-resource', '/.well-known/oauth-authorization-server', `/files/${'a'.repeat(43)}`];
    const statuses = await Promise.all(paths.map(async path => (await rig.call('GET', path)).status));
    const described = (await rig.call('GET', '/openapi.json')).body.toString();
    await rig.stop();
    expect(statuses).to.deep.equal(paths.map(() => 404));
    expect(described).not.to.include('/mcp');
  });
});
