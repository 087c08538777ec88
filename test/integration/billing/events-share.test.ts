import { expect } from 'chai';
import { EVENTS_BUDGET_BYTES, paymentEvents } from '../../../api/console/billing/events.ts';
import { HELD_PER_BODY_BYTE } from '../../../api/http/body.ts';
import { networkOf } from '../../../common/addresses.ts';
import { silentLog } from '../../../common/log.ts';
import { type HttpFixture, httpFixture } from '../../support/http-fixture.ts';
import { type LeaseFixture, leaseFixture } from '../../support/lease-fixture.ts';

const LARGEST = 2 ** 20;
/** Bodies in the share of one address: three quarters of the budget. */
const BODIES_OF_ONE_ADDRESS = (EVENTS_BUDGET_BYTES * 3) / 4 / (LARGEST * HELD_PER_BODY_BYTE);

describe('the webhook of the payment provider', () => {
  let fixture: LeaseFixture;
  let http: HttpFixture;
  before(async () => {
    fixture = await leaseFixture();
    const payments = { readEvent: async () => ({ id: 'evt_1', type: 'an ignored type' }) };
    const sync = { customer: async () => false };
    const handle = paymentEvents({
      payments,
      sync,
      store: fixture.store,
      trustedProxies: [networkOf('127.0.0.1')],
      log: silentLog,
    });
    http = await httpFixture(fixture, {
      console: {
        routes: [{ method: 'post', path: '/event', handle }],
        renders: undefined as never,
      },
    });
  });
  after(async () => {
    await http?.close();
    await fixture?.reset();
    await fixture?.close();
  });

  it('keeps a quarter of its memory for other addresses', async () => {
    const head = (from: string, bytes: number) =>
      `POST /event HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${from}\r\nContent-Type: application/json\r\nContent-Length: ${bytes}\r\n\r\n`;
    // The last byte of each body is missing.
    for (let count = 0; count < BODIES_OF_ONE_ADDRESS; count++) {
      const { send } = await http.open();
      send(head('192.0.2.1', LARGEST));
      send(Buffer.alloc(LARGEST - 1, ' '));
    }
    const [more, other] = [await http.open(), await http.open()];
    more.send(head('192.0.2.1', LARGEST));
    more.send(Buffer.alloc(LARGEST, ' '));
    const rejected = await more.answer();
    expect(rejected.status).to.equal(503);
    expect(rejected.headers['retry-after']).to.equal('5');
    other.send(`${head('192.0.2.2', 2)}{}`);
    expect((await other.answer()).status).to.equal(200);
  });
});
