// @proves neighbours
// Clients that do not render but use up shared resources: connections, bytes, the event loop.
// HOSTILE_SECONDS: duration of each (default 20).
import { Agent } from 'node:http';
import type { Socket } from 'node:net';
import { expect } from 'chai';
import { createKeyText } from '../../../api/accounts/keys.ts';
import { eventually } from '../../support/eventually.ts';
import { httpCall, renderCall } from '../../support/http-call.ts';
import { renderHead } from '../../support/http-fixture.ts';
import type { DeploymentAccount } from '../harness/deployment.ts';
import { drip, holdConnections } from '../harness/hostile-connections.ts';
import { openRowBook, problemsOfCallers } from '../harness/neighbour-rows.ts';
import { type Caller, Neighbourhood } from '../harness/neighbours.ts';

const SECONDS = Number(process.env.HOSTILE_SECONDS ?? 20);
/** Concurrent calls of a rejected client. */
const AT_ONCE = 32;
/** Together more than the budget; the small bodies fill what the large ones leave. */
const DECLARED = [1e7, 1e6, 1e5, 1e4, 1e3];
const HEALTH = 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n';

describe('hostile clients beside five other accounts', function () {
  this.timeout(300_000);
  const book = openRowBook('hostile-callers');
  let neighbourhood: Neighbourhood;
  let port: number;
  let account: DeploymentAccount;
  const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });

  before(async () => {
    neighbourhood = await Neighbourhood.start({
      pages: [],
      renderTimeoutMs: 10_000,
      ordinarySeconds: 10,
    });
    port = neighbourhood.port;
    account = await neighbourhood.deployment.account('free');
  });
  after(async () => {
    book.print();
    agent.destroy();
    await neighbourhood?.stop();
  });

  async function judge(name: string, callers: readonly Caller[]): Promise<Record<string, number>> {
    const row = await neighbourhood.beside(name, callers, SECONDS);
    const problems = problemsOfCallers(row);
    book.add(row, problems);
    expect(problems).to.deep.equal([]);
    return row.hostile.ends;
  }

  /** The headers of a call of the account with this Content-Length. */
  const head = (bytes: number) => renderHead(account.key, bytes);

  const crowds: [string, number, (socket: Socket, nth: number) => void][] = [
    [
      'bodies of 10 MB to 1 kB that are declared and drip',
      26 * DECLARED.length,
      (socket, nth) => {
        socket.write(head(DECLARED[Math.floor(nth / 26)]!));
        drip(socket, ' ', 4_000);
      },
    ],
    [
      '1,000 bodies that drip',
      1_000,
      socket => {
        socket.write(head(1_000));
        drip(socket, ' ', 1_000);
      },
    ],
    [
      '1,000 heads that drip',
      1_000,
      socket => {
        socket.write('POST /v1/render HTTP/1.1\r\nHost: x\r\nX-Slow: ');
        drip(socket, 'x', 1_000);
      },
    ],
    ['3,000 silent connections', 3_000, () => {}],
    ['3,000 idle connections after an answer', 3_000, socket => socket.write(HEALTH)],
    ['1,000 half-closed connections', 1_000, socket => socket.end('GET /healthz HTTP/1.1\r\n')],
    ['1,000 half-closed bodies', 1_000, socket => socket.end(`${head(1_000)}{`)],
    ['all connections that the server takes', 10_100, socket => socket.write(HEALTH)],
  ];
  for (const [name, count, act] of crowds)
    it(`cause no failed render of another account: ${name}`, async () => {
      const held = await holdConnections(port, count, act);
      try {
        await judge(name, []);
        expect(held.opened()).to.be.at.least(count);
      } finally {
        held.end();
      }
      const { process } = neighbourhood.deployment.apis[0]!;
      await eventually(async () => {
        const metrics = await process.metrics();
        expect(metrics.sum('pressroom_in_flight_bytes')).to.equal(0);
        expect(metrics.sum('pressroom_http_connections')).to.equal(0);
      }, 20_000);
    });

  const render = (key: string, body: unknown) => () => renderCall(port, key, body, {}, agent);
  const trial = () =>
    httpCall(
      port,
      'POST',
      '/v1/trial/render',
      { 'content-type': 'application/json' },
      '{"html":"x"}',
      agent,
    );
  const rejected: [string, () => Caller, string][] = [
    [
      'unknown keys',
      () => () => render(createKeyText(account.id), { html: 'x' })(),
      'unauthorized',
    ],
    ['malformed keys', () => render('no key', { html: 'x' }), 'unauthorized'],
    [
      'invalid requests',
      () => render(account.key, { html: 'x', format: 'A99' }),
      'validation_error',
    ],
    [
      'calls over the plan',
      () => render(account.key, { html: '<script>for (;;);</script>' }),
      'concurrency_limit',
    ],
    ['trial calls over the limit', () => trial, 'rate_limited'],
  ];
  for (const [name, caller, code] of rejected)
    it(`cause no failed render of another account: ${name} as fast as they are rejected`, async () => {
      const ends = await judge(name, Array.from({ length: AT_ONCE }, caller));
      expect(ends).to.have.property(code).that.is.greaterThan(AT_ONCE);
    });
});
