// Tables of attacks: each row is a page that tries to reach the victim, and every address in it
// that it is sure to try is one that the guard must have refused.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { expect } from 'chai';
import { eventually } from '../eventually.ts';
import { type Installation, installation } from '../installation.ts';
import { pdfText } from '../pdf.ts';
import { type DnsServer, startDnsServer } from '../servers/dns-server.ts';
import { type Page, startWebServer, type WebServer } from '../servers/web-server.ts';
import { type AttackVictim, startAttackVictim } from './attack-victim.ts';

export interface Served {
  body?: string;
  type?: string;
  status?: number;
  headers?: Record<string, string>;
}

/**
 * In every text of a row `%V` stands for a victim, a `host:port` of its own each time, which leads
 * to another of the victim's addresses than the one before. `%Q` is one that Chrome need not try,
 * `%S` the site that the page comes from (a loopback address, which Chrome takes for safe without
 * TLS), `%O` the same server by a name, for Chrome another site.
 */
export interface Attack {
  what: string;
  /** What lies on the site, by path; a text is HTML. The first is the page, unless `html` is. */
  serve?: Record<string, string | Served>;
  html?: string;
  /** More of the request's fields. */
  options?: Record<string, unknown>;
  /** An expression that becomes true when the page has tried all that is in `%Q`. */
  done?: string;
  /**
   * The page, its css or its javascript is refused as a whole; everything else is printed with what
   * it got.
   */
  blocked?: true;
}

export interface AttackSite {
  web: WebServer;
  pages: Record<string, Page>;
  victim: AttackVictim;
  dns: DnsServer;
  pressroom: Installation;
  /**
   * How often the guard has said no because of an address (or of its port, where another one of the
   * address is open), so far.
   */
  refusals(): Promise<number>;
  close(): Promise<void>;
}

/**
 * The attacker's site, the one thing that is open, and the victim, whose port is open and whose
 * addresses are not.
 */
export async function startAttackSite(env: Record<string, string> = {}): Promise<AttackSite> {
  const pages: Record<string, Page> = {};
  const [web, victim, dns] = await Promise.all([
    startWebServer(pages),
    startAttackVictim(),
    startDnsServer(),
  ]);
  dns.set('site.example', '127.0.0.1');
  const pressroom = await installation({
    intranet: true,
    env: {
      PRESSROOM_DNS_SERVERS: dns.address,
      PRESSROOM_EGRESS_ALLOW: `127.0.0.1:${web.port}`,
      PRESSROOM_EGRESS_PORTS: `80,443,${victim.port}`,
      PRESSROOM_RENDER_TIMEOUT: '90s',
      ...env,
    },
  });
  return {
    web,
    pages,
    victim,
    dns,
    pressroom,
    refusals: async () => {
      const counts = (await pressroom.worker.metrics.text()).matchAll(
        /^pressroom_egress_denied_total\{reason="(?:address|port)"\} (\d+)$/gm,
      );
      return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
    },
    close: async () => {
      await pressroom.stop();
      await Promise.all([web, victim, dns].map(each => each.close()));
    },
  };
}

const answer =
  ({ body = '', type = 'text/html; charset=utf-8', status = 200, headers = {} }: Served) =>
  (_request: IncomingMessage, response: ServerResponse) =>
    response
      .writeHead(status, {
        'content-type': type,
        'access-control-allow-origin': '*',
        'cache-control': 'no-store',
        ...headers,
      })
      .end(body);

let names = 0;

/** Puts addresses into all texts of a row. */
function aim<T>(row: T, { web, victim, dns }: AttackSite): { aimed: T; sure: string[] } {
  const sure: string[] = [];
  const fill = (text: string) =>
    text
      .replaceAll('%S', `127.0.0.1:${web.port}`)
      .replaceAll('%O', `site.example:${web.port}`)
      .replace(/%[VQ]/g, kind => {
        const name = `v${++names}.victim.example`;
        dns.set(name, victim.addresses[names % victim.addresses.length]!);
        if (kind === '%V') sure.push(name);
        return `${name}:${victim.port}`;
      });
  const walk = (value: unknown): unknown => {
    if (typeof value === 'string') return fill(value);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, walk(each)]));
  };
  return { aimed: walk(row) as T, sure };
}

/**
 * Renders the row's page and sees that the victim was refused as often as it was asked for, and
 * never touched.
 */
export async function expectBlocked(site: AttackSite, row: Attack): Promise<void> {
  const { aimed, sure } = aim(row, site);
  const { pages, web, victim, dns, pressroom, refusals } = site;
  const before = await refusals();
  const missing = () =>
    sure.flatMap((name, at) => (dns.queries(name) === 0 ? [`%V number ${at + 1}`] : []));
  const tried = async () => missing().length === 0 && (await refusals()) >= before + sure.length;
  for (const path of Object.keys(pages)) delete pages[path];
  for (const [path, served] of Object.entries(aimed.serve ?? {}))
    pages[path] = answer(typeof served === 'string' ? { body: served } : served);
  pages['/tried'] = async (request, response) =>
    answer({ body: String(await tried()), type: 'application/json' })(request, response);
  const source =
    aimed.html === undefined
      ? { url: `http://127.0.0.1:${web.port}${Object.keys(aimed.serve!)[0]}` }
      : { html: aimed.html };
  const until =
    sure.length > 0
      ? `fetch("http://127.0.0.1:${web.port}/tried").then(answer => answer.json())`
      : aimed.done;
  const body = {
    ...source,
    ...(until && !row.blocked && { wait_for_expression: until }),
    ...aimed.options,
  };
  const rendered = await pressroom.render(body);
  if (row.blocked)
    await eventually(async () => expect(await tried(), `never tried: ${missing()}`).to.equal(true));
  // What the page leaves to its end is over as well.
  await pressroom.worker.until({ busy: 0, ready: 2 });
  expect(victim.touched.splice(0)).to.deep.equal([]);
  if (row.blocked) {
    expect(rendered.status, 'it was printed').to.equal(422);
    expect(rendered.error().code).to.equal('ssrf_blocked');
    return;
  }
  expect(
    rendered.status,
    `${rendered.body.toString('utf8', 0, 300)}, never tried: ${missing()}`,
  ).to.equal(200);
  expect(await pdfText(rendered.body)).to.include('PAGE');
}

/** A test for each row. */
export function attacks(title: string, rows: Attack[]): void {
  describe(title, function () {
    this.timeout(240_000);
    let site: AttackSite;

    before(async () => {
      site = await startAttackSite();
    });
    after(() => site?.close());

    for (const row of rows) it(`gets nowhere ${row.what}`, () => expectBlocked(site, row));
  });
}
