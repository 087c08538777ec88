// @proves account-shares

import { expect } from 'chai';
import { eventually } from '../../support/eventually.ts';
import { renderCall } from '../../support/http-call.ts';
import { rawConnection, renderHead } from '../../support/http-fixture.ts';
import { html, type Installation, installation } from '../../support/installation.ts';
import { port } from '../../support/trial-calls.ts';

const CONNECTIONS = 26;
const DECLARED_BYTES = 10_000_000;
/** Ten times the cost of the declared lengths, to the KiB. */
const BYTES_IN_FLIGHT = '292969KiB';
const INTERVAL_MS = 4_000;
/** Includes one interval after the grace period of 5 s. */
const ATTACK_MS = 2 * INTERVAL_MS + 1_000;

describe('slow requests with large declared bodies', () => {
  let pressroom: Installation;
  let connections: Awaited<ReturnType<typeof rawConnection>>[] = [];
  let timer: NodeJS.Timeout | undefined;
  before(async () => {
    pressroom = await installation({
      plan: 'free',
      env: { PRESSROOM_BYTES_IN_FLIGHT: BYTES_IN_FLIGHT },
    });
  });
  after(async () => {
    clearInterval(timer);
    for (const { socket } of connections) socket.destroy();
    await pressroom?.stop();
  });

  it('rejects the slow requests and serves every render of another account', async () => {
    await pressroom.accounts.createAccount('other', { plan: 'growth' });
    const { text: otherKey } = await pressroom.accounts.createKey('other', { name: 'test' });
    const render = async () =>
      (await renderCall(port(pressroom), otherKey, { html: html('<p>invoice</p>') })).status;
    expect(await render()).to.equal(200);

    const head = `${renderHead(pressroom.key, DECLARED_BYTES)}{`;
    connections = await Promise.all(
      Array.from({ length: CONNECTIONS }, () => rawConnection(port(pressroom))),
    );
    for (const { send } of connections) send(head);
    timer = setInterval(() => {
      for (const { socket, send } of connections) if (socket.writable) send(' ');
    }, INTERVAL_MS);
    const answers = connections.map(async connection => {
      const { status, json } = await connection.answer();
      return `${status} ${json().error.code}`;
    });
    let over = false;
    const all = Promise.all(answers).finally(() => {
      over = true;
    });
    all.catch(() => {}); // awaited below

    const endMs = performance.now() + ATTACK_MS;
    const served: number[] = [];
    while (performance.now() < endMs) served.push(await render());
    expect(served.length).to.be.greaterThan(10);
    expect(served.filter(status => status !== 200)).to.deep.equal([]);

    await eventually(() => expect(over).to.equal(true));
    const counts = Object.groupBy(await all, answer => answer);
    // The limit is the plan's one render plus eight; their bodies are then too slow.
    expect(
      Object.entries(counts).map(([answer, all]) => [answer, all!.length]),
    ).to.have.deep.members([
      ['429 concurrency_limit', 17],
      ['400 validation_error', 9],
    ]);
  });
});
