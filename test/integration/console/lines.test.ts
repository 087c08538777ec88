// What a page wrote to its console, as the log of renders has it: read at the end of the render,
// bounded, and never in the render's way.
import { expect } from 'chai';
import { type ConsoleFixture, consoleFixture } from '../../support/console/console-fixture.ts';
import { type LoggedRows, loggedRows } from '../../support/console/log-fixture.ts';
import { html } from '../../support/installation.ts';
import { startWebServer, type WebServer } from '../../support/servers/web-server.ts';

describe('the console of a page in the log of renders', () => {
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

  it('has the level and the words of each line', async () => {
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

  it('has what the page threw and nobody caught, without its stack', async () => {
    expect(await linesOf(script('throw new RangeError("too far")'))).to.deep.equal([
      'error: Uncaught RangeError: too far',
    ]);
  });

  it('has at most 50 lines, of 500 characters, and says that there were more', async () => {
    const lines = await linesOf(
      script('console.log("x".repeat(5000)); for (let i = 0; i < 99; i++) console.log(i)'),
    );
    expect(lines).to.have.length(50);
    expect(lines[0]).to.have.length('log: '.length + 500);
    expect(lines.at(-1)).to.equal('info: console output was truncated');
  });

  it('does not fail a page for writing without end', async () => {
    expect(
      await linesOf(
        script('for (let i = 0; i < 20000; i++) console.log("line", i, "y".repeat(200))'),
      ),
    ).to.have.length(50);
  });

  it('has the length in place of a line that is very long', async () => {
    const [line] = await linesOf(script('console.log("z".repeat(200_000))'));
    expect(line).to.match(/^log: \(a message of 19\d KiB\)$/);
  });

  it('does not fail a page for one line of many megabytes', async () => {
    expect((await linesOf(script('console.log("z".repeat(20e6))'))).length).to.be.at.most(1);
  });

  it('is that of the document that was printed', async () => {
    expect(await linesOf({ url: `http://127.0.0.1:${web.port}/first` })).to.deep.equal([
      'log: second',
    ]);
  });

  it('has what a script from an address wrote, once, and not what tells us of its end', async () => {
    const body = {
      ...script('console.log("of the page")'),
      javascript: `http://127.0.0.1:${web.port}/script.js`,
    };
    expect(await linesOf(body)).to.deep.equal(['log: of the page', 'log: of the script']);
  });

  it('is there for a render that failed', async () => {
    const body = { ...script('console.warn("look here")'), javascript: 'throw new Error("x")' };
    expect((await linesOf(body, 400))[0]).to.equal('warn: look here');
  });

  it('does not hold up the answer to a page that hangs', async () => {
    const body = {
      ...script('console.log("before"); setTimeout(() => { for (;;); }, 100)'),
      wait_delay: '1s',
    };
    expect((await linesOf(body, 502)).length).to.be.at.most(1);
  });

  it('is empty for a page that nothing can write in', async () => {
    expect(await linesOf({ html: html('<p>still') })).to.deep.equal([]);
  });
});
