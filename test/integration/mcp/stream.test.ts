// @proves mcp-streams
// What a long call sends while nothing happens, since a proxy between may end what is silent.
import { expect } from 'chai';
import { type ConsoleFixture, consoleFixture } from '../../support/console/console-fixture.ts';
import { earlierMessage, mcpCall } from '../../support/console/mcp-call.ts';
import { authorizeApp } from '../../support/console/oauth-flow.ts';

describe('the stream of a long call, for whatever proxy is between', () => {
  let fixture: ConsoleFixture;
  let token: string;
  before(async () => {
    fixture = await consoleFixture();
    token = (await authorizeApp(fixture, await fixture.person({ role: 'developer' }))).access_token;
  });
  after(() => fixture.stop());

  it('asks not to be held back or kept, and is never silent for long, though the client asked for no progress', async () => {
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
    // Before the answer, since a proxy may end what is silent for 20 s.
    expect(body.toString()).to.match(/^:/);
  });
});
