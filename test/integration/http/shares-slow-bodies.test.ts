// @proves account-shares

import { expect } from 'chai';
import { eventually } from '../../support/eventually.ts';
import { renderCall } from '../../support/http-call.ts';
import { rawConnection, renderHead } from '../../support/http-fixture.ts';
import { html, type Installation, installation } from '../../support/installation.ts';
import { port } from '../../support/trial-calls.ts';

const CONNECTIONS = 26;
const DECLARED_BYTES = 10_000_000;
/** Ten times what the declared lengths cost, to the KiB. */
const BYTES_IN_FLIGHT = '292969KiB';
const DRIP_MS = 4_000;
/** One drip after the 5 s in which a body may be slow. */
const ATTACK_MS = 2 * DRIP_MS + 1_000;

describe('a caller who declares large bodies and sends a byte now and then', () => {
  let pressroom: Installation;
  let connections: Awaited<ReturnType<typeof rawConnection>>[] = [];
  let drip: NodeJS.Timeout | undefined;
  before(async () => {
    pressroom = await installation({
      plan: 'free',
      env: { PRESSROOM_BYTES_IN_FLIGHT: BYTES_IN_FLIGHT },
    });
  });
  after(async () => {
    clearInterval(drip);
    for (const { socket } of connections) socket.destroy();
    await pressroom?.stop();
  });

  it('leaves all renders of another account their memory, and is refused', async () => {
    await pressroom.accounts.createAccount('innocent', { plan: 'growth' });
    const { text: innocentKey } = await pressroom.accounts.createKey('innocent', { name: 'test' });
    const render = async () =>
      (await renderCall(port(pressroom), innocentKey, { html: html('<p>invoice</p>') })).status;
    expect(await render()).to.equal(200);

    const head = `${renderHead(pressroom.key, DECLARED_BYTES)}{`;
    connections = await Promise.all(
      Array.from({ length: CONNECTIONS }, () => rawConnection(port(pressroom))),
    );
    for (const { send } of connections) send(head);
    drip = setInterval(() => {
      for (const { socket, send } of connections) if (socket.writable) send(' ');
    }, DRIP_MS);
    const answers = connections.map(async connection => {
      const { status, json } = await connection.answer();
      return `${status} ${json().error.code}`;
    });
    let over = false;
    const all = Promise.all(answers).finally(() => {
      over = true;
    });
    all.catch(() => {}); // looked at below

    const endMs = performance.now() + ATTACK_MS;
    const served: number[] = [];
    while (performance.now() < endMs) served.push(await render());
    expect(served.length).to.be.greaterThan(10);
    expect(served.filter(status => status !== 200)).to.deep.equal([]);

    await eventually(() => expect(over).to.equal(true));
    const counts = Object.groupBy(await all, answer => answer);
    // The plan's one render and eight more are read, until they are too slow.
    expect(
      Object.entries(counts).map(([answer, all]) => [answer, all!.length]),
    ).to.have.deep.members([
      ['429 concurrency_limit', 17],
      ['400 validation_error', 9],
    ]);
  });
});
