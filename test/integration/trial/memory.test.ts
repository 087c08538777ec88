import { expect } from 'chai';
import { readSamples } from '../../fault/harness/samples.ts';
import { eventually } from '../../support/eventually.ts';
import { rawConnection } from '../../support/http-fixture.ts';
import { type Installation, installation } from '../../support/installation.ts';
import {
  newAddress,
  PATH,
  PROXIES,
  port,
  RATE_LIMITED,
  rejected,
  trial,
} from '../../support/trial-calls.ts';

describe('trial renders in an API with a small byte budget', () => {
  let pressroom: Installation;
  /** Of 4 MiB in total, trial calls may hold 1 MiB; a body of 250 kB counts as 750 kB. */
  const BODY = JSON.stringify({
    html: `x<!--${' '.repeat(250_000 - '{"html":"x<!---->"}'.length)}-->`,
  });
  before(async () => {
    pressroom = await installation({ env: { ...PROXIES, PRESSROOM_BYTES_IN_FLIGHT: '4MiB' } });
  });
  after(() => pressroom?.stop());

  it('use at most a quarter of it, and the rest stays available to customers', async () => {
    const head = `POST ${PATH} HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${newAddress()}\r\nContent-Type: application/json\r\nContent-Length: ${BODY.length}\r\n\r\n`;
    const slow = await rawConnection(port(pressroom));
    slow.send(head + BODY.slice(0, -1));
    await eventually(async () =>
      expect(
        readSamples(await pressroom.metrics.text()).sum('pressroom_in_flight_bytes'),
      ).to.be.above(700_000),
    );
    expect(rejected(await trial(pressroom, BODY))).to.deep.equal(RATE_LIMITED);
    expect((await pressroom.render(BODY)).status).to.equal(200);
    slow.send(BODY.slice(-1));
    expect((await slow.answer()).status).to.equal(200);
    slow.socket.destroy();
  });

  it('leave part of that quarter to other clients when one sends slowly', async () => {
    const from = newAddress();
    const head = `POST ${PATH} HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${from}\r\nContent-Type: application/json\r\nContent-Length: ${BODY.length}\r\n\r\n`;
    const slow = await rawConnection(port(pressroom));
    slow.send(head + BODY.slice(0, -1));
    await eventually(async () =>
      expect(
        readSamples(await pressroom.metrics.text()).sum('pressroom_in_flight_bytes'),
      ).to.be.above(700_000),
    );
    const small = { html: `x<!--${' '.repeat(20_000)}-->` };
    expect(rejected(await trial(pressroom, small, from))).to.deep.equal(RATE_LIMITED);
    expect((await trial(pressroom, small)).status).to.equal(200);
    slow.socket.destroy();
  });

  it('reject a body that could never fit into that quarter as too large', async () => {
    const answer = await trial(pressroom, { html: `x<!--${' '.repeat(400_000)}-->` });
    expect(answer.status).to.equal(400);
    expect(answer.error().code).to.equal('payload_too_large');
    expect((await pressroom.render({ html: `x<!--${' '.repeat(400_000)}-->` })).status).to.equal(
      200,
    );
  });
});
