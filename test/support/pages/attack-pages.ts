// Tables of attacks. Each row is a page that tries to reach the victim; the egress guard must block
// every address that the page is certain to try.
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
 * Placeholders in every string of a row: `%V` is a new `host:port` of the victim, each with
 * another of its addresses. `%Q` is one that Chrome may skip, `%S` the site of the page (a loopback
 * address, a secure context without TLS), `%O` the same server by name, which is another site.
 */
export interface Attack {
  what: string;
  /** The files of the site by path; a string is HTML. The first is the page without `html`. */
  serve?: Record<string, string | Served>;
  html?: string;
  /** Further fields of the request. */
  options?: Record<string, unknown>;
  /** An expression that is true when the page has tried every `%Q`. */
  done?: string;
  /** Whether the whole render fails with ssrf_blocked. Otherwise the page is printed. */
  blocked?: true;
}

export interface AttackSite {
  web: WebServer;
  pages: Record<string, Page>;
  victim: AttackVictim;
  dns: DnsServer;
  pressroom: Installation;
  /**
   * Number of requests that the guard blocked because of the address, or of its port when another
   * port of the address is allowed.
   */
  blockedRequests(): Promise<number>;
  close(): Promise<void>;
}

/**
 * Starts the site of the attacker, which is allowed, and the victim, whose port is allowed and
 * whose addresses are not.
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
    blockedRequests: async () => {
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

/** Replaces the placeholders in all strings of a row. */
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

/** Renders the page of a row and expects that the guard blocked every attempt. */
export async function expectBlocked(site: AttackSite, row: Attack): Promise<void> {
  const { aimed, sure } = aim(row, site);
  const { pages, web, victim, dns, pressroom, blockedRequests } = site;
  const before = await blockedRequests();
  const missing = () =>
    sure.flatMap((name, at) => (dns.queries(name) === 0 ? [`%V number ${at + 1}`] : []));
  const tried = async () =>
    missing().length === 0 && (await blockedRequests()) >= before + sure.length;
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
  // Requests at the end of the page must have been sent too.
  await pressroom.worker.until({ busy: 0, ready: 2 });
  expect(victim.touched.splice(0)).to.deep.equal([]);
  if (row.blocked) {
    expect(rendered.status, 'the page was printed').to.equal(422);
    expect(rendered.error().code).to.equal('ssrf_blocked');
    return;
  }
  expect(
    rendered.status,
    `${rendered.body.toString('utf8', 0, 300)}, never tried: ${missing()}`,
  ).to.equal(200);
  expect(await pdfText(rendered.body)).to.include('PAGE');
}

/** Defines a test for each row. */
export function attacks(title: string, rows: Attack[]): void {
  describe(title, function () {
    this.timeout(240_000);
    let site: AttackSite;

    before(async () => {
      site = await startAttackSite();
    });
    after(() => site?.close());

    for (const row of rows) it(`blocks an attack ${row.what}`, () => expectBlocked(site, row));
  });
}
