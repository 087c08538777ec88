// The console output of a page in the render log: read at the end of the render, bounded, and without
// delaying the render.
import { expect } from 'chai';
import { type ConsoleFixture, consoleFixture } from '../../support/console/console-fixture.ts';
import { type LoggedRows, loggedRows } from '../../support/console/log-fixture.ts';
import { html } from '../../support/installation.ts';
import { startWebServer, type WebServer } from '../../support/servers/web-server.ts';

describe('console output in the render log', () => {
  let fixture: ConsoleFixture;
  let log: LoggedRows;
  let web: WebServer;
  before(async () => {
    web = await startWebServer({
      '/first': '<script>console.log("first"); location = "/second"</script>',
      '/second': '<script>console.log("second")</script>',
      '/script.js': (_request, response) => response.end('console.log("of the script")'),
    });
    fixture = await consoleFixture({
      intranet: true,
      env: { PRESSROOM_EGRESS_ALLOW: `127.0.0.1:${web.port}`, PRESSROOM_RENDER_TIMEOUT: '5s' },
    });
    log = await loggedRows(fixture);
  });
  after(async () => {
    await fixture?.stop();
    await web?.close();
  });

  async function linesOf(body: Record<string, unknown>, status = 200): Promise<string[]> {
    const answer = await fixture.render(body);
    expect(answer.status, answer.body.toString('latin1').slice(0, 300)).to.equal(status);
    const { console } = await log.detail(answer.headers['x-request-id']!);
    return console.map(({ level, text }) => `${level}: ${text}`);
  }
  const script = (text: string) => ({ html: html(`<script>${text}</script>`) });

  it('contains the level and the text of each line', async () => {
    const lines = await linesOf(
      script(
        'console.log("a", 1, null, undefined, true, 5n, NaN); console.debug("b"); console.info({a: 1}); console.warn([1, 2]); console.error(new TypeError("c")); console.assert(false, "d")',
      ),
    );
    expect(lines.slice(0, 4)).to.deep.equal([
      'log: a 1 null undefined true 5n NaN',
      'debug: b',
      'info: Object',
      'warn: Array(2)',
    ]);
    expect(lines[4]).to.match(/^error: TypeError: c/);
    expect(lines[5]).to.equal('error: d');
  });

  it('contains uncaught exceptions, without their stack', async () => {
    expect(await linesOf(script('throw new RangeError("too far")'))).to.deep.equal([
      'error: Uncaught RangeError: too far',
    ]);
  });

  it('is limited to 50 lines of 500 characters, and marks the truncation', async () => {
    const lines = await linesOf(
      script('console.log("x".repeat(5000)); for (let i = 0; i < 99; i++) console.log(i)'),
    );
    expect(lines).to.have.length(50);
    expect(lines[0]).to.have.length('log: '.length + 500);
    expect(lines.at(-1)).to.equal('info: console output was truncated');
  });

  it('does not fail a page that writes endlessly', async () => {
    expect(
      await linesOf(
        script('for (let i = 0; i < 20000; i++) console.log("line", i, "y".repeat(200))'),
      ),
    ).to.have.length(50);
  });

  it('contains the length in place of a very long line', async () => {
    const [line] = await linesOf(script('console.log("z".repeat(200_000))'));
    expect(line).to.match(/^log: \(a message of 19\d KiB\)$/);
  });

  it('does not fail a page for a line of many megabytes', async () => {
    expect((await linesOf(script('console.log("z".repeat(20e6))'))).length).to.be.at.most(1);
  });

  it('belongs to the printed document', async () => {
    expect(await linesOf({ url: `http://127.0.0.1:${web.port}/first` })).to.deep.equal([
      'log: second',
    ]);
  });

  it('contains the output of a script URL once, without internal markers', async () => {
    const body = {
      ...script('console.log("of the page")'),
      javascript: `http://127.0.0.1:${web.port}/script.js`,
    };
    expect(await linesOf(body)).to.deep.equal(['log: of the page', 'log: of the script']);
  });

  it('exists for a failed render', async () => {
    const body = { ...script('console.warn("look here")'), javascript: 'throw new Error("x")' };
    expect((await linesOf(body, 400))[0]).to.equal('warn: look here');
  });

  it('does not delay the response for a page that hangs', async () => {
    const body = {
      ...script('console.log("before"); setTimeout(() => { for (;;); }, 100)'),
      wait_delay: '1s',
    };
    expect((await linesOf(body, 502)).length).to.be.at.most(1);
  });

  it('is empty for a static document', async () => {
    expect(await linesOf({ html: html('<p>still') })).to.deep.equal([]);
  });
});
