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
  refused,
  trial,
} from '../../support/trial-calls.ts';

describe('an API whose memory is small', () => {
  let pressroom: Installation;
  /** 4 MiB in all: trial calls may hold 1 MiB together, of which a body of 250 kB takes 750 kB. */
  const BODY = JSON.stringify({
    html: `x<!--${' '.repeat(250_000 - '{"html":"x<!---->"}'.length)}-->`,
  });
  before(async () => {
    pressroom = await installation({ env: { ...PROXIES, PRESSROOM_BYTES_IN_FLIGHT: '4MiB' } });
  });
  after(() => pressroom?.stop());

  it('gives a quarter of it to trial calls, and the rest stays for customers', async () => {
    const head = `POST ${PATH} HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${newAddress()}\r\nContent-Type: application/json\r\nContent-Length: ${BODY.length}\r\n\r\n`;
    const slow = await rawConnection(port(pressroom));
    slow.send(head + BODY.slice(0, -1));
    await eventually(async () =>
      expect(
        readSamples(await pressroom.metrics.text()).sum('pressroom_in_flight_bytes'),
      ).to.be.above(700_000),
    );
    expect(refused(await trial(pressroom, BODY))).to.deep.equal(RATE_LIMITED);
    expect((await pressroom.render(BODY)).status).to.equal(200);
    slow.send(BODY.slice(-1));
    expect((await slow.answer()).status).to.equal(200);
    slow.socket.destroy();
  });

  it('leaves a part of that quarter to other visitors when one sends slowly', async () => {
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
    expect(refused(await trial(pressroom, small, from))).to.deep.equal(RATE_LIMITED);
    expect((await trial(pressroom, small)).status).to.equal(200);
    slow.socket.destroy();
  });

  it('says of a body that could never fit into the quarter that it is too large', async () => {
    const answer = await trial(pressroom, { html: `x<!--${' '.repeat(400_000)}-->` });
    expect(answer.status).to.equal(400);
    expect(answer.error().code).to.equal('payload_too_large');
    expect((await pressroom.render({ html: `x<!--${' '.repeat(400_000)}-->` })).status).to.equal(
      200,
    );
  });
});
