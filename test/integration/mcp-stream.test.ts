import { request } from 'node:http';
import { expect } from 'chai';
import { type ConsoleRig, consoleRig } from '../support/console-rig.ts';
import { walk } from '../support/oauth-walk.ts';

const RENDER = {
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'render_pdf', arguments: { html: '<p>slow</p>', wait_delay: '18s' } },
};

describe('the stream of a long call, for whatever proxy is between', function () {
  this.timeout(60_000);
  let rig: ConsoleRig;
  let token: string;
  before(async () => {
    rig = await consoleRig();
    token = (await walk(rig, await rig.person({ role: 'developer' }))).access_token;
  });
  after(() => rig.stop());

  it('asks not to be held back or kept, and is never silent for long, though the client asked for no progress', async () => {
    const headers = {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2025-11-25',
    };
    let text = '';
    const answered = await new Promise<NodeJS.Dict<string | string[]>>((done, fail) => {
      const call = request(`${rig.url}/mcp`, { method: 'POST', headers }, response => {
        response.on('data', chunk => {
          text += chunk;
        });
        response.on('end', () => done(response.headers));
        response.on('error', fail);
      });
      call.on('error', fail);
      call.end(JSON.stringify(RENDER));
    });
    expect(answered['content-type']).to.equal('text/event-stream');
    expect(answered['x-accel-buffering']).to.equal('no');
    expect(answered['cache-control']).to.match(/no-cache|no-store/);
    expect(text).to.include('render_id');
    // Before the answer, since a proxy may end what is silent for 20 s.
    expect(text).to.match(/^:/);
  });
});
