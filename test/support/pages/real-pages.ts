// Tables of realistic pages with their expected results. After each page the worker must be in its
// initial state.
import { readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { expect } from 'chai';
import { readSamples } from '../../fault/harness/samples.ts';
import { eventually } from '../eventually.ts';
import { type Answer, type Installation, installation } from '../installation.ts';
import { pdfInfo, pdfText } from '../pdf.ts';
import { type DnsServer, startDnsServer } from '../servers/dns-server.ts';
import { type Page, startWebServer, type WebServer } from '../servers/web-server.ts';

/** Origins of the server of a row, as `http://host:port`. */
export interface Site {
  base: string;
  /** Another site for Chrome, whose frames run in a separate process. */
  other: string;
  /** A loopback address, which is a secure context without TLS. */
  secure: string;
  /** A private address that no page may reach. Any connection fails the row. */
  victim: string;
}

export interface RealPage {
  what: string;
  /** The HTML document. Without it, the first page of `serve` is rendered by URL. */
  html?: string | ((site: Site) => string);
  serve?: Record<string, Page> | ((site: Site) => Record<string, Page>);
  at?: keyof Site;
  options?: object;
  /** The expected PDF: texts it contains, texts it must not contain, page count, appearance. */
  text?: (string | RegExp)[];
  without?: string[];
  pages?: number;
  look?: (pdf: Buffer, site: Site) => Promise<unknown>;
  /**
   * The expected failure, or several if the result depends on speed. With `page_timeout` the render
   * timeout is LIMIT_S.
   */
  fails?: { reason: string | string[]; message: RegExp };
}

/** The render timeout of pages that are expected to time out. */
export const LIMIT_S = 2;
/** The render timeout of all other pages, which a slow machine must not reach. */
const LONG_LIMIT_S = 90;

const squeezed = (text: string) => text.replace(/\s+/g, ' ');

async function expectPrinted(answer: Answer, row: RealPage, site: Site): Promise<void> {
  expect(answer.status, answer.body.toString('utf8', 0, 300)).to.equal(200);
  const text = squeezed(await pdfText(answer.body));
  for (const expected of row.text ?? [])
    if (typeof expected === 'string') expect(text).to.include(expected);
    else expect(text).to.match(expected);
  for (const unwanted of row.without ?? []) expect(text).to.not.include(unwanted);
  if (row.pages !== undefined) expect((await pdfInfo(answer.body)).pages).to.equal(row.pages);
  await row.look?.(answer.body, site);
}

function expectFailure(answer: Answer, { reason, message }: NonNullable<RealPage['fails']>): void {
  expect(answer.status, 'the page was printed').to.equal(502);
  const error = answer.error();
  expect(error.code).to.equal('render_failed');
  expect([reason].flat(), error.message).to.include(error.reason);
  expect(error.message).to.match(message);
}

/** Expects no download in the profile folders of this process. */
async function expectNoDownload(): Promise<void> {
  for (const folder of await readdir(tmpdir())) {
    if (!folder.startsWith(`pressroom-chrome-${process.pid}-`)) continue;
    const files = await readdir(`${tmpdir()}/${folder}`, { recursive: true }).catch(() => []);
    expect(files.filter(file => /downloaded|crdownload/i.test(file))).to.deep.equal([]);
  }
}

/** Expects every slot ready, no leftover page, no dead Chrome and a successful plain render. */
async function expectInitialState({ worker, render }: Installation): Promise<void> {
  const answer = await render({ html: '<p>PLAIN RENDER</p>' });
  expect(answer.status, answer.body.toString('utf8', 0, 300)).to.equal(200);
  expect(squeezed(await pdfText(answer.body))).to.equal('PLAIN RENDER ');
  await worker.until({ busy: 0, ready: 2 });
  await eventually(async () => {
    const targets = await Promise.all(
      worker.worker
        .chromes()
        .map(({ pipe }) =>
          pipe.command<{ targetInfos: { type: string; url: string }[] }>('Target.getTargets'),
        ),
    );
    const infos = targets.flatMap(({ targetInfos }) => targetInfos);
    expect(infos.filter(({ url }) => url !== 'about:blank')).to.deep.equal([]);
    // The fresh page of each slot, and the sealed one that the plain render leaves.
    const sealed = worker.worker.status().warm ?? [];
    expect(infos.filter(({ type }) => type === 'page')).to.have.length(2 + sealed.length);
    expect(targets).to.have.length(2);
  });
  // A page that reached a limit has its Chrome replaced. No Chrome dies.
  const samples = readSamples(await worker.metrics.text());
  expect(samples.sum('pressroom_chrome_starts_total', { reason: 'first' })).to.equal(2);
  expect(samples.sum('pressroom_chrome_starts_total', { reason: 'died' })).to.equal(0);
}

const timesOut = ({ fails }: RealPage) =>
  fails !== undefined && [fails.reason].flat().includes('page_timeout');

/** Defines a test for each row. `env` is added to the environment of API and worker. */
export function realPages(title: string, rows: RealPage[], env: Record<string, string> = {}): void {
  describe(title, function () {
    this.timeout(240_000);
    const pages: Record<string, Page> = {};
    let web: WebServer;
    let victim: WebServer;
    let dns: DnsServer;
    let longTimeout: Installation;
    let shortTimeout: Installation;
    let site: Site;

    before(async () => {
      [web, victim, dns] = await Promise.all([
        startWebServer(pages),
        startWebServer({ '/': '<h1>SECRET</h1>' }),
        startDnsServer(),
      ]);
      for (const name of ['shop.example', 'other.example', 'victim.example'])
        dns.set(name, '127.0.0.1');
      const at = (host: string, port = web.port) => `http://${host}:${port}`;
      site = {
        base: at('shop.example'),
        other: at('other.example'),
        secure: at('127.0.0.1'),
        victim: at('victim.example', victim.port),
      };
      const open = (seconds: number) =>
        installation({
          intranet: true,
          env: {
            PRESSROOM_DNS_SERVERS: dns.address,
            PRESSROOM_EGRESS_ALLOW: `127.0.0.1:${web.port}`,
            PRESSROOM_RENDER_TIMEOUT: `${seconds}s`,
            // Pages of 100 MB keep Chrome busy for seconds while other tests run. It is not hung.
            PRESSROOM_CHROME_PROBE_INTERVAL: '60s',
            ...env,
          },
        });
      longTimeout = await open(LONG_LIMIT_S);
      shortTimeout = rows.some(timesOut) ? await open(LIMIT_S) : longTimeout;
    });
    after(async () => {
      await Promise.all([...new Set([longTimeout, shortTimeout])].map(each => each?.stop()));
      await Promise.all([web, victim, dns].map(each => each.close()));
    });

    for (const row of rows)
      it(`${row.fails ? `fails with ${[row.fails.reason].flat().join(' or ')} for` : 'prints'} ${row.what}`, async () => {
        const served = typeof row.serve === 'function' ? row.serve(site) : (row.serve ?? {});
        Object.assign(pages, served);
        const source =
          row.html === undefined
            ? { url: `${site[row.at ?? 'base']}${Object.keys(served)[0]}` }
            : { html: typeof row.html === 'function' ? row.html(site) : row.html };
        const pressroom = timesOut(row) ? shortTimeout : longTimeout;
        const answer = await pressroom.render({ ...source, ...row.options });
        if (row.fails) expectFailure(answer, row.fails);
        else await expectPrinted(answer, row, site);
        await expectNoDownload();
        await expectInitialState(pressroom);
        expect(victim.connections(), 'the private address was reached').to.equal(0);
      });
  });
}
