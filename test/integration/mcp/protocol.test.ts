// @proves POST /mcp
// The protocol of the MCP endpoint in each of its revisions: negotiation, headers and error codes.
import { expect } from 'chai';
import { PdfStore } from '../../../api/console/downloads/pdf-store.ts';
import {
  type ConsoleFixture,
  consoleFixture,
  type TestUser,
} from '../../support/console/console-fixture.ts';
import {
  earlierMessage,
  type Message,
  mcpCall,
  notification,
  PRESENT,
  presentMessage,
  replyOf,
} from '../../support/console/mcp-call.ts';
import { authorizeApp } from '../../support/console/oauth-flow.ts';

const METHOD_NOT_FOUND = -32_601;
const INVALID_PARAMS = -32_602;

describe('the protocol of the MCP endpoint', () => {
  let fixture: ConsoleFixture;
  let developer: TestUser;
  let token: string;
  before(async () => {
    fixture = await consoleFixture({ workers: 0 });
    developer = await fixture.createUser({ role: 'developer' });
    token = (await authorizeApp(fixture, developer)).access_token;
  });
  after(() => fixture.stop());

  const send = (message: Message, headers?: Record<string, string>) =>
    mcpCall(fixture, token, message, headers);
  const initialize = (protocolVersion: string) =>
    earlierMessage('initialize', {
      protocolVersion,
      capabilities: {},
      clientInfo: { name: 'a test', version: '1' },
    });

  describe('of 2025', () => {
    it('negotiates the requested revision, or the latest for an unknown one', async () => {
      for (const [asked, agreed] of [
        ['2025-11-25', '2025-11-25'],
        ['2025-06-18', '2025-06-18'],
        ['2025-03-26', '2025-03-26'],
        ['1999-01-01', '2025-11-25'],
      ] as const)
        expect(replyOf(await send(initialize(asked))).result).to.include({
          protocolVersion: agreed,
        });
    });

    it('returns a session id to each client, and accepts any', async () => {
      const answers = [await send(initialize('2025-11-25')), await send(initialize('2025-11-25'))];
      const sessions = answers.map(({ headers }) => headers['mcp-session-id']);
      expect(new Set(sessions).size).to.equal(2);
      for (const session of [sessions[0]!, 'made up'])
        expect(
          replyOf(await send(earlierMessage('tools/list'), { 'mcp-session-id': session })).result,
        ).to.include.keys('tools');
    });

    it('accepts known and unknown notifications with an empty response', async () => {
      for (const method of [
        'notifications/initialized',
        'notifications/cancelled',
        'notifications/no_such',
      ]) {
        const answer = await send(notification(method));
        expect([answer.status, answer.body.length]).to.deep.equal([202, 0]);
      }
    });

    it('responds to ping, and lists no resources', async () => {
      expect(replyOf(await send(earlierMessage('ping'))).result).to.deep.equal({});
      expect(replyOf(await send(earlierMessage('resources/list'))).result).to.deep.equal({
        resources: [],
      });
    });

    it('rejects an unsupported revision in the header and names the supported ones', async () => {
      const answer = await send(earlierMessage('tools/list'), {
        'mcp-protocol-version': '1999-01-01',
      });
      expect(answer.status).to.equal(400);
      expect(replyOf(answer).error!.message).to.include('1999-01-01').and.include('2025-11-25');
    });
  });

  describe('of 2026-07-28', () => {
    it('returns its capabilities without a session', async () => {
      const answer = await send(presentMessage('server/discover'));
      expect(replyOf(answer).result).to.deep.include({
        supportedVersions: [PRESENT],
        capabilities: { tools: { listChanged: false }, resources: { listChanged: false } },
      });
      expect(answer.headers).to.not.have.property('mcp-session-id');
    });

    it('lets clients cache descriptions, but no PDF', async () => {
      for (const method of [
        'server/discover',
        'tools/list',
        'resources/list',
        'resources/templates/list',
      ])
        expect(replyOf(await send(presentMessage(method))).result).to.include({
          ttlMs: 300_000,
          cacheScope: 'private',
        });
      const renderId = crypto.randomUUID();
      const pdf = {
        renderId,
        account: fixture.accountId,
        user: developer.id,
        filename: 'a.pdf',
        pages: 1,
        pdf: Buffer.from('%PDF-'),
      };
      await new PdfStore(fixture.store, { ttlMs: 60_000, accountMaxBytes: 2 ** 20 }).save(
        pdf,
        new AbortController().signal,
      );
      const read = replyOf(
        await send(presentMessage('resources/read', { uri: `render://${renderId}` })),
      ).result!;
      expect(read).to.include({ ttlMs: 0, cacheScope: 'private' }).and.have.property('contents');
    });

    it('rejects another revision and names the supported one', async () => {
      const answer = await send(presentMessage('tools/list', {}, '2027-01-01'));
      expect(answer.status).to.equal(400);
      expect(replyOf(answer).error!.data).to.deep.include({
        supported: [PRESENT],
        requested: '2027-01-01',
      });
    });

    it('rejects headers that contradict the message', async () => {
      const message = presentMessage('tools/list');
      for (const headers of [
        { 'mcp-method': 'tools/call' },
        { 'mcp-protocol-version': '2025-11-25' },
      ]) {
        const answer = await send(message, headers);
        expect(answer.status).to.equal(400);
        expect(replyOf(answer).error!.message).to.match(/header/i);
      }
    });
  });

  for (const [era, messageOf] of [
    ['2025', earlierMessage],
    [PRESENT, presentMessage],
  ] as const)
    describe(`of ${era}, with an invalid message`, () => {
      const errorOf = async (method: string, params: Record<string, unknown>) =>
        replyOf(await send(messageOf(method, params))).error!;

      it('returns METHOD_NOT_FOUND for an unknown method', async () => {
        for (const method of ['no/such', 'prompts/list', 'completion/complete'])
          expect(await errorOf(method, {})).to.include({ code: METHOD_NOT_FOUND });
      });

      it('responds with JSON or a stream, as Accept allows', async () => {
        const call = messageOf('tools/call', {
          name: 'render_pdf',
          arguments: {},
          _meta: { progressToken: 1 },
        });
        for (const accept of [
          '*/*',
          'application/json',
          'application/json, application/mcp+json',
          '',
        ]) {
          const answer = await send(call, { accept });
          expect(answer.headers['content-type']).to.equal('application/json');
          expect(replyOf(answer).result!.content[0]!.text).to.match(/^validation_error: /);
        }
        for (const accept of ['text/event-stream', 'application/json, text/event-stream']) {
          const answer = await send(call, { accept });
          expect(answer.headers['content-type']).to.equal('text/event-stream');
          expect(replyOf(answer).result!.content[0]!.text).to.match(/^validation_error: /);
        }
      });

      it('names an unknown tool', async () => {
        const error = await errorOf('tools/call', { name: 'print_page', arguments: {} });
        expect(error.code).to.equal(INVALID_PARAMS);
        expect(error.message).to.include('print_page');
      });

      it('names the missing arguments', async () => {
        for (const given of [{}, { arguments: {} }]) {
          const { result } = replyOf(
            await send(messageOf('tools/call', { name: 'render_pdf', ...given })),
          );
          expect(result!.isError).to.equal(true);
          expect(result!.content[0]!.text).to.match(
            /^validation_error: Send exactly one of `html` and `url`. The request has neither\./,
          );
        }
      });

      it('rejects arguments that are not an object', async () => {
        for (const given of [['<p>'], '<p>', 1])
          expect(await errorOf('tools/call', { name: 'render_pdf', arguments: given })).to.include({
            code: INVALID_PARAMS,
          });
      });

      it('names an unknown resource', async () => {
        for (const uri of ['file:///etc/passwd', 'render://nothing', 'render://'])
          expect(await errorOf('resources/read', { uri })).to.deep.include({
            code: INVALID_PARAMS,
            data: { uri },
          });
      });
    });
});
