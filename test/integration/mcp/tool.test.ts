// @proves POST /mcp
// The tool render_pdf with both client libraries: its description, its results, usage and limits.
import { createHash } from 'node:crypto';
import { expect } from 'chai';
import {
  type ConsoleFixture,
  consoleFixture,
  type TestUser,
} from '../../support/console/console-fixture.ts';
import { loggedRows } from '../../support/console/log-fixture.ts';
import {
  type McpClient,
  mcpClient,
  mcpClients,
  SDK_VERSIONS,
  type ToolAnswer,
  textOf,
} from '../../support/console/mcp-fixture.ts';
import { authorizeApp } from '../../support/console/oauth-flow.ts';
import { heldBytes } from '../../support/counted.ts';
import { eventually } from '../../support/eventually.ts';
import { pdfInfo, pdfText } from '../../support/pdf.ts';

const HELLO = {
  html: '<h1>Hello, world</h1>',
  metadata: { title: 'Greeting 42' },
  filename: 'Greeting 42',
};
const LONG = { html: '<h1>long</h1>', wait_for_expression: 'false' };

/** In their order. One is sent per second, so on a busy machine also the last ones. */
const STAGES = [
  'Checking plan limits',
  'Waiting for a free browser',
  'Loading the page',
  'Waiting for conditions and printing',
  'Finishing the PDF',
  'Storing the PDF',
];

for (const line of SDK_VERSIONS)
  describe(`the tool render_pdf, called by a client of the ${line} line`, () => {
    let fixture: ConsoleFixture;
    let developer: TestUser;
    let client: McpClient;
    before(async () => {
      fixture = await consoleFixture({ plan: 'free' });
      developer = await fixture.createUser({ role: 'developer' });
      client = await mcpClient(
        line,
        fixture.url,
        (await authorizeApp(fixture, developer)).access_token,
      );
    });
    after(async () => {
      await client?.close();
      await fixture.stop();
    });
    afterEach(async () => {
      await fixture.worker.until({ busy: 0 });
      await eventually(async () => expect(await fixture.running()).to.equal(0));
      await eventually(async () => expect(await heldBytes(fixture)).to.equal(0));
    });

    const connect = mcpClients();
    const download = (answer: ToolAnswer) =>
      fixture.call('GET', new URL(answer.structuredContent!.url).pathname);

    it('is the only tool, with the schema of the contract', async () => {
      const tools = await client.tools();
      expect(tools.map(({ name }) => name)).to.deep.equal(['render_pdf']);
      const [{ inputSchema, outputSchema, annotations, description }] = tools as [
        (typeof tools)[0],
      ];
      expect(inputSchema.properties).to.include.keys(
        'html',
        'url',
        'format',
        'margin',
        'sandbox',
        'delivery',
      );
      expect(inputSchema).to.include({ type: 'object', additionalProperties: false });
      expect(inputSchema).to.not.have.any.keys('oneOf', 'anyOf', 'allOf');
      expect(outputSchema.required).to.have.members([
        'url',
        'expires_at',
        'bytes',
        'pages',
        'sha256',
        'filename',
        'render_id',
      ]);
      expect(annotations).to.include({
        readOnlyHint: false,
        destructiveHint: false,
        openWorldHint: true,
      });
      expect(description).to.include('10 MiB').and.include('1 min').and.include('30 min');
    });

    it('has a short description without HTTP headers, since models read it with every message', async () => {
      const [tool] = await client.tools();
      const text = JSON.stringify(tool);
      expect(text.length).to.be.below(16_000);
      expect(text).to.not.match(/"pattern":"|X-Sandbox|X-Usage-Count/);
    });

    it('names the PDF render.pdf without a file name, whatever its title', async () => {
      const { metadata, html } = HELLO;
      const { structuredContent } = await client.render({ html, metadata, sandbox: true });
      expect(structuredContent).to.include({ filename: 'render.pdf' });
    });

    it('renders, counts, and returns a link to the same bytes', async () => {
      const before = await fixture.usage();
      const answer = await client.render(HELLO);
      expect(answer.isError ?? false).to.equal(false);
      const { url, pages, bytes, sha256, filename, render_id, expires_at } =
        answer.structuredContent!;
      expect(new URL(url).origin).to.equal('http://localhost:8080');
      expect({ pages, filename }).to.deep.equal({ pages: 1, filename: 'Greeting 42.pdf' });
      expect(Date.parse(expires_at) - Date.now())
        .to.be.greaterThan(29 * 60e3)
        .and.at.most(30 * 60e3);
      const { status, body } = await download(answer);
      expect(status).to.equal(200);
      expect(body.length).to.equal(bytes);
      expect(createHash('sha256').update(body).digest('hex')).to.equal(sha256);
      expect(await pdfText(body)).to.include('Hello, world');
      expect(await pdfInfo(body)).to.include({ pages: 1, title: 'Greeting 42' });
      expect(textOf(answer)).to.include(url).and.include('1 page');
      expect(
        answer.content.filter(({ type }) => type === 'resource_link').map(({ uri }) => uri),
      ).to.deep.equal([`render://${render_id}`]);
      expect(await fixture.usage()).to.equal(before + 1);
      const { detail } = await loggedRows(fixture);
      expect(await detail(render_id)).to.include({
        via: 'mcp',
        app: 'An App',
        outcome: 'ok',
        counted: true,
        pages: 1,
        bytes,
      });
    });

    it('does not count a sandbox render', async () => {
      const before = await fixture.usage();
      expect(textOf(await client.render({ ...HELLO, sandbox: true }))).to.include(
        'sandbox watermark',
      );
      expect(await fixture.usage()).to.equal(before);
    });

    it('embeds a small PDF on request, next to the link', async () => {
      const answer = await client.render({ ...HELLO, delivery: 'embedded' });
      const { resource } = answer.content.find(({ type }) => type === 'resource')!;
      expect(resource).to.include({
        mimeType: 'application/pdf',
        uri: `render://${answer.structuredContent!.render_id}`,
      });
      expect(Buffer.from(resource!.blob, 'base64').equals((await download(answer)).body)).to.equal(
        true,
      );
    });

    it('returns the link with a note when the PDF is too large to embed', async () => {
      const noise =
        '(() => { const c = Object.assign(document.createElement("canvas"), { width: 800, height: 800 }); const x = c.getContext("2d"); const d = x.createImageData(800, 800); for (let i = 0; i < d.data.length; i++) d.data[i] = Math.random() * 256; x.putImageData(d, 0, 0); document.body.append(c); })()';
      const answer = await client.render({
        html: '<p>noise</p>',
        javascript: noise,
        delivery: 'embedded',
      });
      expect(answer.structuredContent!.bytes).to.be.greaterThan(2 ** 20);
      expect(answer.content.map(({ type }) => type)).to.deep.equal(['text', 'resource_link']);
      expect(textOf(answer)).to.include('too large to embed');
      expect((await download(answer)).body.length).to.equal(answer.structuredContent!.bytes);
    });

    it('serves the resource only to the same user in the same account', async () => {
      const answer = await client.render(HELLO);
      const uri = `render://${answer.structuredContent!.render_id}`;
      expect(
        Buffer.from(await client.read(uri), 'base64').equals((await download(answer)).body),
      ).to.equal(true);
      const colleague = await fixture.createUser({ role: 'owner' });
      const other = await connect(
        line,
        fixture.url,
        (await authorizeApp(fixture, colleague)).access_token,
      );
      const rejected = await other.read(uri).catch((error: Error) => error);
      const missing = await other
        .read('render://01a20359-d5b3-7ed0-96eb-75edf92b030e')
        .catch((error: Error) => error);
      expect(String(rejected)).to.include('PDF not found');
      expect(String(missing)).to.equal(String(rejected));
    });

    it('names the invalid fields and the accepted values', async () => {
      const wrong = await client.render({ html: 'x', landscap: true, scale: 9 });
      expect(wrong.isError).to.equal(true);
      expect(wrong).to.not.have.property('structuredContent');
      expect(textOf(wrong)).to.match(
        /^validation_error: `scale` must be a number from 0.1 to 2, not 9. `landscap` is not a valid field. Did you mean `landscape`\?\nRequest ID: /,
      );
      expect(textOf(await client.render({})))
        .to.include('validation_error')
        .and.include('`html`');
      expect(textOf(await client.render({ html: 'x', delivery: 'post' }))).to.include(
        '`delivery` must be `link` or `embedded`, not "post".',
      );
      expect(textOf(await client.render({ html: 'x', delivery: {} }))).to.include('not an object.');
      expect(textOf(await client.render({ url: 'http://127.0.0.1/' }))).to.match(/^ssrf_blocked: /);
    });

    it('sends progress notifications on request', async () => {
      const received: { progress: number; message?: string }[] = [];
      await client.render(
        { ...HELLO, wait_delay: '1500ms' },
        { onprogress: each => received.push(each) },
      );
      expect(received.length).to.be.at.least(2);
      expect(received[0]).to.deep.include({ message: 'Checking plan limits' });
      const stages = received.map(({ message }) => STAGES.indexOf(message!));
      expect(stages).to.include(STAGES.indexOf('Waiting for conditions and printing'));
      expect(stages).not.to.include(-1);
      expect(stages).to.deep.equal(stages.toSorted((one, other) => one - other));
      expect(received.map(({ progress }) => progress)).to.deep.equal(
        received.map(({ progress }) => progress).sort((a, b) => a - b),
      );
    });

    it('rejects a render beyond the plan, and frees the slot when the first call is cancelled', async () => {
      const before = await fixture.usage();
      const cancelling = new AbortController();
      const first = client
        .render(LONG, { signal: cancelling.signal })
        .catch((error: Error) => error);
      await fixture.worker.until({ busy: 1 });
      const second = await client.render(HELLO);
      expect(second.isError).to.equal(true);
      expect(textOf(second)).to.match(/^concurrency_limit: .*\nTry again in \d+ s\.\n/);
      cancelling.abort();
      expect(await first).to.be.instanceOf(Error);
      await fixture.worker.until({ busy: 0 });
      await eventually(async () => expect(await fixture.running()).to.equal(0));
      expect((await client.render({ ...HELLO, sandbox: true })).isError ?? false).to.equal(false);
      expect(await fixture.usage()).to.equal(before);
      await eventually(async () => {
        const ends = await fixture.store.console.renders
          .find({ account: fixture.accountId, via: 'mcp' }, { sort: { at: -1 }, limit: 3 })
          .toArray();
        expect(ends.map(({ outcome, code }) => code ?? outcome)).to.deep.equal([
          'ok',
          'concurrency_limit',
          'client_closed',
        ]);
      });
    });
  });
