// @proves POST /mcp
// What the endpoint answers to messages that are not the usual ones, in the words and codes of each
// era of the protocol.
import { expect } from 'chai';
import { PdfStore } from '../../../api/console/downloads/pdf-store.ts';
import {
  type ConsoleFixture,
  consoleFixture,
  type Person,
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

describe('the protocol of /mcp', () => {
  let fixture: ConsoleFixture;
  let developer: Person;
  let token: string;
  before(async () => {
    fixture = await consoleFixture({ workers: 0 });
    developer = await fixture.person({ role: 'developer' });
    token = (await authorizeApp(fixture, developer)).access_token;
  });
  after(() => fixture.stop());

  const send = (message: Message, headers?: Record<string, string>) =>
    mcpCall(fixture, token, message, headers);
  const hello = (protocolVersion: string) =>
    earlierMessage('initialize', {
      protocolVersion,
      capabilities: {},
      clientInfo: { name: 'a test', version: '1' },
    });

  describe('of 2025', () => {
    it('agrees on the revision that the client asks for, and on the last one when it asks for one that never was', async () => {
      for (const [asked, agreed] of [
        ['2025-11-25', '2025-11-25'],
        ['2025-06-18', '2025-06-18'],
        ['2025-03-26', '2025-03-26'],
        ['1999-01-01', '2025-11-25'],
      ] as const)
        expect(replyOf(await send(hello(asked))).result).to.include({ protocolVersion: agreed });
    });

    it('gives each client a session, which names its calls and nothing else', async () => {
      const answers = [await send(hello('2025-11-25')), await send(hello('2025-11-25'))];
      const sessions = answers.map(({ headers }) => headers['mcp-session-id']);
      expect(new Set(sessions).size).to.equal(2);
      for (const session of [sessions[0]!, 'made up'])
        expect(
          replyOf(await send(earlierMessage('tools/list'), { 'mcp-session-id': session })).result,
        ).to.include.keys('tools');
    });

    it('takes notifications without an answer, whether it knows them or not', async () => {
      for (const method of [
        'notifications/initialized',
        'notifications/cancelled',
        'notifications/no_such',
      ]) {
        const answer = await send(notification(method));
        expect([answer.status, answer.body.length]).to.deep.equal([202, 0]);
      }
    });

    it('answers a ping, and lists no resources', async () => {
      expect(replyOf(await send(earlierMessage('ping'))).result).to.deep.equal({});
      expect(replyOf(await send(earlierMessage('resources/list'))).result).to.deep.equal({
        resources: [],
      });
    });

    it('refuses a revision in the header that it does not speak, and names those that it does', async () => {
      const answer = await send(earlierMessage('tools/list'), {
        'mcp-protocol-version': '1999-01-01',
      });
      expect(answer.status).to.equal(400);
      expect(replyOf(answer).error!.message).to.include('1999-01-01').and.include('2025-11-25');
    });
  });

  describe('of 2026-07-28', () => {
    it('says what it can without a session', async () => {
      const answer = await send(presentMessage('server/discover'));
      expect(replyOf(answer).result).to.deep.include({
        supportedVersions: [PRESENT],
        capabilities: { tools: { listChanged: false }, resources: { listChanged: false } },
      });
      expect(answer.headers).to.not.have.property('mcp-session-id');
    });

    it('lets clients keep what describes it, and no PDF', async () => {
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

    it('refuses another revision and names its own', async () => {
      const answer = await send(presentMessage('tools/list', {}, '2027-01-01'));
      expect(answer.status).to.equal(400);
      expect(replyOf(answer).error!.data).to.deep.include({
        supported: [PRESENT],
        requested: '2027-01-01',
      });
    });

    it('refuses headers that say something else than the message', async () => {
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
    describe(`of ${era}, when something is wrong`, () => {
      const errorOf = async (method: string, params: Record<string, unknown>) =>
        replyOf(await send(messageOf(method, params))).error!;

      it('names a method that it does not know as such', async () => {
        for (const method of ['no/such', 'prompts/list', 'completion/complete'])
          expect(await errorOf(method, {})).to.include({ code: METHOD_NOT_FOUND });
      });

      it('answers each client in a kind that it takes, whatever it says of that', async () => {
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

      it('names a tool that it does not have', async () => {
        const error = await errorOf('tools/call', { name: 'print_page', arguments: {} });
        expect(error.code).to.equal(INVALID_PARAMS);
        expect(error.message).to.include('print_page');
      });

      it('tells a model that gave no arguments what is missing', async () => {
        for (const given of [{}, { arguments: {} }]) {
          const { result } = replyOf(
            await send(messageOf('tools/call', { name: 'render_pdf', ...given })),
          );
          expect(result!.isError).to.equal(true);
          expect(result!.content[0]!.text).to.match(
            /^validation_error: Exactly one of `html` and `url` must be given; neither was\./,
          );
        }
      });

      it('refuses arguments that are no object', async () => {
        for (const given of [['<p>'], '<p>', 1])
          expect(await errorOf('tools/call', { name: 'render_pdf', arguments: given })).to.include({
            code: INVALID_PARAMS,
          });
      });

      it('names an address that leads to nothing', async () => {
        for (const uri of ['file:///etc/passwd', 'render://nothing', 'render://'])
          expect(await errorOf('resources/read', { uri })).to.deep.include({
            code: INVALID_PARAMS,
            data: { uri },
          });
      });
    });
});
