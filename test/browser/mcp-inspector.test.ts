// @proves mcp-clients
// The command line of the MCP Inspector, the official debugging client, against the MCP server.
import { createHash } from 'node:crypto';
import { mkdtemp, readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { startBrowser, type TestBrowser } from '../support/browser.ts';
import { type ConsentingUser, consentingUser } from '../support/console/consenting-user.ts';
import { type ConsoleFixture, consoleFixture } from '../support/console/console-fixture.ts';
import { type ToolAnswer, textOf } from '../support/console/mcp-fixture.ts';
import { authorizeApp } from '../support/console/oauth-flow.ts';
import { type Inspector, inspector, inspectorProgram } from '../support/inspector.ts';
import { type Replicas, replicas } from '../support/servers/replicas.ts';
import { skip } from '../support/skip.ts';
import { temporaryFolder } from '../support/temporary.ts';

const ERAS = ['legacy', 'modern'];
const LIST = ['--method', 'tools/list'];
const RENDER = ['--method', 'tools/call', '--tool-name', 'render_pdf'];

describe('MCP Inspector', function () {
  this.timeout(120_000);
  const folder = temporaryFolder();
  let program: string;
  let command: Inspector;
  before(async function () {
    this.timeout(400_000);
    try {
      program = await inspectorProgram();
    } catch (error) {
      skip(this, `The MCP Inspector is not here: ${(error as Error).message}.`);
    }
  });
  beforeEach(async () => {
    // Each test has its own home folder, without tokens.
    command = inspector(program, await mkdtemp(folder('home-')));
  });

  describe('with a given access token', () => {
    let fixture: ConsoleFixture;
    let token: string;
    before(async () => {
      fixture = await consoleFixture();
      token = (await authorizeApp(fixture, await fixture.createUser({ role: 'developer' })))
        .access_token;
    });
    after(() => fixture?.stop());

    const run = (args: string[], given = token) =>
      command.run([
        `${fixture.url}/mcp`,
        '--transport',
        'http',
        '--header',
        `Authorization: Bearer ${given}`,
        ...args,
      ]);

    for (const era of ERAS)
      it(`finds no problems in the tool definition (${era})`, async () => {
        const { code, errorLines, result } = await run([
          ...LIST,
          '--strict',
          '--protocol-era',
          era,
        ]);
        expect({ code, errorLines }).to.deep.equal({ code: 0, errorLines: [] });
        expect(result<{ tools: { name: string }[] }>().tools.map(({ name }) => name)).to.deep.equal(
          ['render_pdf'],
        );
      });

    it('renders and reads the same PDF as a resource', async () => {
      const args = ['--tool-arg', 'html=<h1>Hello</h1>', 'landscape=true', 'scale=0.5'];
      const { code, result } = await run([...RENDER, ...args]);
      expect(code).to.equal(0);
      const { render_id, sha256 } = result<ToolAnswer>().structuredContent!;
      const file = folder('read.pdf');
      expect(
        (
          await run([
            '--method',
            'resources/read',
            '--uri',
            `render://${render_id}`,
            '--output',
            file,
            '--output-format',
            'raw',
          ])
        ).code,
      ).to.equal(0);
      expect(
        createHash('sha256')
          .update(await readFile(file))
          .digest('hex'),
      ).to.equal(sha256);
    });

    it('receives the validation error of a call', async () => {
      const { code, result } = await run([
        ...RENDER,
        '--tool-args-json',
        '{"html":"x","landscap":true}',
      ]);
      expect(code).to.equal(5);
      expect(textOf(result<ToolAnswer>())).to.include('Did you mean `landscape`?');
    });

    it('reports that it must sign in when the token is invalid', async () => {
      expect((await run([...LIST, '--stored-auth-only'], `${token}x`)).code).to.equal(3);
    });
  });

  describe('with interactive sign-in', () => {
    let both: Replicas;
    let browser: TestBrowser;
    let human: ConsentingUser;
    before(async () => {
      both = await replicas();
      browser = await startBrowser();
      human = await consentingUser(both.fixture, browser);
    });
    after(async () => {
      await browser?.close();
      await both?.stop();
    });

    const run = (args: string[], onAuthorize?: (url: string) => Promise<void>) =>
      command.run(
        [
          `${both.front.url}/mcp`,
          '--transport',
          'http',
          '--callback-url',
          'http://127.0.0.1:0/oauth/callback',
          ...args,
        ],
        onAuthorize,
      );

    for (const era of ERAS)
      it(`renders with its tokens and refreshes them when they expire (${era})`, async () => {
        const render = [...RENDER, '--tool-arg', 'html=<h1>Hello</h1>', '--protocol-era', era];
        const first = await run(render, url => human.answer(url));
        expect(first.code, first.errorLines.join('\n')).to.equal(0);
        expect(first.result<ToolAnswer>().structuredContent!.pages).to.equal(1);
        const ended = { $set: { expiresAt: new Date(Date.now() - 1_000) } };
        expect(
          (await both.fixture.store.console.oauth.updateMany({ _id: /^AccessToken:/ }, ended))
            .matchedCount,
        ).to.be.at.least(1);
        const next = await run(render);
        expect(next.code, next.errorLines.join('\n')).to.equal(0);
      });

    it('signs in again after the user disconnects it', async () => {
      expect((await run(LIST, url => human.answer(url))).code).to.equal(0);
      const { items } = await human.person.good<{ items: { id: string; name: string }[] }>(
        'GET',
        '/me/apps',
      );
      expect(items[0]!.name).to.equal('MCP Inspector');
      await human.person.good('DELETE', `/me/apps/${items[0]!.id}`);
      expect((await run([...LIST, '--stored-auth-only'])).code).to.equal(3);
      const again = await run(LIST, url => human.answer(url));
      expect(again.code, again.errorLines.join('\n')).to.equal(0);
    });
  });
});
