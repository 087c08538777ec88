// @proves POST /mcp
// Attacks of an authorized client on the memory of the process.
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { expect } from 'chai';
import { PdfStore } from '../../../api/console/downloads/pdf-store.ts';
import { type ConsoleFixture, consoleFixture } from '../../support/console/console-fixture.ts';
import { earlierMessage, mcpCall, mcpHeaders, replyOf } from '../../support/console/mcp-call.ts';
import { authorizeApp } from '../../support/console/oauth-flow.ts';
import { heldBytes } from '../../support/counted.ts';
import { eventually } from '../../support/eventually.ts';

describe('a hostile MCP client', () => {
  let fixture: ConsoleFixture;
  before(async () => {
    fixture = await consoleFixture({ workers: 0 });
  });
  after(() => fixture.stop());

  /** A member with a stored PDF of this size, and the message that reads it. */
  async function reader(account: string, bytes: number) {
    const person = await fixture.createUser({ role: 'developer', account });
    const renderId = crypto.randomUUID();
    const pdfs = new PdfStore(fixture.store, { ttlMs: 600_000, accountMaxBytes: 2 ** 30 });
    const pdf = {
      renderId,
      account,
      user: person.id,
      filename: 'a.pdf',
      pages: 1,
      pdf: Buffer.alloc(bytes),
    };
    await pdfs.save(pdf, new AbortController().signal);
    return {
      token: (await authorizeApp(fixture, person)).access_token,
      message: earlierMessage('resources/read', { uri: `render://${renderId}` }),
    };
  }

  it('receives no progress for a token longer than 200 characters', async () => {
    const { access_token } = await authorizeApp(
      fixture,
      await fixture.createUser({ role: 'developer' }),
    );
    const responseTo = async (progressToken: string) => {
      const params = { name: 'render_pdf', arguments: {}, _meta: { progressToken } };
      return (
        await mcpCall(fixture, access_token, earlierMessage('tools/call', params))
      ).body.toString();
    };
    expect(await responseTo('x'.repeat(200)))
      .to.include('notifications/progress')
      .and.include('validation_error');
    expect(await responseTo('x'.repeat(201)))
      .to.include('validation_error')
      .and.not.include('notifications/progress');
  });

  it('holds a bounded share of the byte budget with unread results, and does not block other accounts', async () => {
    const { token, message } = await reader(fixture.accountId, 8 * 2 ** 20);
    const other = await reader(await fixture.account2(), 8 * 2 ** 20);
    const slow: IncomingMessage[] = [];
    for (let n = 0; n < 2; n += 1) {
      const call = request({
        port: fixture.api.port(),
        method: 'POST',
        path: '/mcp',
        headers: mcpHeaders(token),
        agent: false,
      });
      call.end(JSON.stringify(message.body));
      slow.push((await once(call, 'response'))[0] as IncomingMessage);
    }
    await eventually(async () =>
      expect(await heldBytes(fixture)).to.be.within(64 * 2 ** 20, 65 * 2 ** 20),
    );
    expect(replyOf(await mcpCall(fixture, token, message)).error?.message).to.include('busy');
    expect(replyOf(await mcpCall(fixture, other.token, other.message)).result).to.have.property(
      'contents',
    );
    for (const each of slow) each.destroy();
    await eventually(async () => expect(await heldBytes(fixture)).to.equal(0));
    expect(replyOf(await mcpCall(fixture, token, message)).result).to.have.property('contents');
  });
});
