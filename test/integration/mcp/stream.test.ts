// @proves mcp-streams
// Keep-alives of a long call, since proxies close idle connections.
import { expect } from 'chai';
import { type ConsoleFixture, consoleFixture } from '../../support/console/console-fixture.ts';
import { earlierMessage, mcpCall } from '../../support/console/mcp-call.ts';
import { authorizeApp } from '../../support/console/oauth-flow.ts';

describe('the stream of a long MCP call', () => {
  let fixture: ConsoleFixture;
  let token: string;
  before(async () => {
    fixture = await consoleFixture();
    token = (await authorizeApp(fixture, await fixture.createUser({ role: 'developer' })))
      .access_token;
  });
  after(() => fixture.stop());

  it('disables proxy buffering and sends a comment within 15 s, without progress notifications', async () => {
    const message = earlierMessage('tools/call', {
      name: 'render_pdf',
      arguments: { html: '<p>slow</p>', wait_delay: '15500ms' },
    });
    const { headers, body } = await mcpCall(fixture, token, message, {
      'mcp-protocol-version': '2025-11-25',
    });
    expect(headers['content-type']).to.equal('text/event-stream');
    expect(headers['x-accel-buffering']).to.equal('no');
    expect(headers['cache-control']).to.match(/no-cache|no-store/);
    expect(body.toString()).to.include('render_id');
    // The comment before the response: proxies may close a connection after 20 s of silence.
    expect(body.toString()).to.match(/^:/);
  });
});
