// A Stripe stub on loopback: answers the requests of Pressroom from in-memory state and signs the
// events that a test delivers.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { Stripe } from 'stripe';
import { type Answer, httpCall } from '../http-call.ts';
import { type FakeEvent, type StripeWorld, stripeWorld } from './stripe-world.ts';

export const WEBHOOK_SECRET = 'whsec_of_the_tests';
export const WEBHOOK_PATH = '/console/stripe/webhook';

export interface Delivery {
  secret?: string;
  /** Seconds since 1970. */
  timestamp?: number;
  /** Sent instead of the signed body. */
  body?: string;
}

export interface StripeFake {
  url: string;
  world: StripeWorld;
  /** The requests, such as `POST /v1/customers`, in order. */
  calls: string[];
  /** Called before each response is sent. A returned promise delays the response. */
  beforeAnswer: (call: string) => Promise<unknown> | unknown;
  /** A fault: `cut` closes the connection, `silent` never responds. */
  trouble: 'none' | 'cut' | 'silent' | 'unauthorized';
  deliver(port: number, event: FakeEvent, how?: Delivery): Promise<Answer>;
  /** Delivers all events since the last call in order. Throws unless each returns 200. */
  deliverAll(port: number): Promise<void>;
  close(): Promise<void>;
}

type Form = Record<string, string>;
type Found = object | undefined;

const missing = (what: string, param: string) => ({
  error: {
    type: 'invalid_request_error',
    code: 'resource_missing',
    param,
    message: `No such ${what}`,
  },
});

const listOf = (data: object[]) => ({ object: 'list', url: '/', has_more: false, data });

function answers(world: StripeWorld): [RegExp, (form: Form, id: string) => Found][] {
  const metadata = (form: Form, prefix = 'metadata'): Record<string, string> =>
    Object.fromEntries(
      Object.entries(form).flatMap(([name, value]) => {
        const key = name.startsWith(`${prefix}[`) && name.slice(prefix.length + 1, -1);
        return key ? [[key, value]] : [];
      }),
    );
  const known = (form: Form) => world.customers.has(form['customer'] ?? '');
  return [
    [/^POST \/v1\/customers$/, form => world.createCustomer(metadata(form))],
    [
      /^POST \/v1\/customers\/(\w+)$/,
      ({ name, email }, id) => {
        const customer = world.customers.get(id);
        return customer && Object.assign(customer, { name, email });
      },
    ],
    [
      /^GET \/v1\/subscriptions$/,
      form => {
        if (!known(form)) return undefined;
        const all = world.subscriptions.filter(({ customer }) => customer === form['customer']);
        // Stripe omits canceled subscriptions unless status is `all`.
        return listOf(
          all.filter(({ status }) => form['status'] === 'all' || status !== 'canceled').reverse(),
        );
      },
    ],
    [
      /^GET \/v1\/checkout\/sessions$/,
      form =>
        listOf(
          world.checkouts.filter(
            ({ customer, status }) => customer === form['customer'] && status === form['status'],
          ),
        ),
    ],
    [
      /^POST \/v1\/checkout\/sessions\/(\w+)\/expire$/,
      (_form, id) => {
        const open = world.checkouts.find(each => each.id === id && each.status === 'open');
        return open && Object.assign(open, { status: 'expired' });
      },
    ],
    [
      /^POST \/v1\/checkout\/sessions$/,
      form =>
        known(form) &&
        world.prices.has(form['line_items[0][price]'] ?? '') &&
        form['mode'] === 'subscription'
          ? world.createCheckout(
              form['customer']!,
              form['line_items[0][price]']!,
              metadata(form, 'subscription_data[metadata]'),
            )
          : undefined,
    ],
    [
      /^POST \/v1\/billing_portal\/sessions$/,
      form =>
        known(form)
          ? {
              id: 'bps_1',
              object: 'billing_portal.session',
              url: `https://billing.stripe.test/p?${new URLSearchParams(form)}`,
            }
          : undefined,
    ],
    [/^GET \/v1\/prices\/(\w+)$/, (_form, id) => world.prices.get(id)],
  ];
}

export async function stripeFake(): Promise<StripeFake> {
  const world = stripeWorld();
  const rows = answers(world);
  const signer = new Stripe('sk_test_unused', { telemetry: false });
  /** Responses by idempotency key, with the parameters of the request. */
  const byIdempotencyKey = new Map<string, { body: string; answer: string }>();

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url!, 'http://localhost');
    const body = await text(request);
    const call = `${request.method} ${pathname}`;
    fake.calls.push(call);
    const send = (status: number, json: object | string) =>
      response
        .writeHead(status, { 'content-type': 'application/json', 'request-id': 'req_test' })
        .end(typeof json === 'string' ? json : JSON.stringify(json));
    if (fake.trouble === 'cut') return void request.socket.destroy();
    if (fake.trouble === 'silent') return;
    if (fake.trouble === 'unauthorized' || request.headers.authorization !== `Bearer ${SECRET_KEY}`)
      return void send(401, {
        error: {
          type: 'invalid_request_error',
          message: `Invalid API Key provided: ${SECRET_KEY}`,
        },
      });
    const key = request.headers['idempotency-key'] as string | undefined;
    const before = key === undefined ? undefined : byIdempotencyKey.get(key);
    if (before && before.body !== body)
      return void send(400, {
        error: {
          type: 'idempotency_error',
          message: 'Keys for idempotent requests go with the same parameters.',
        },
      });
    if (before) return void send(200, before.answer);
    const form = {
      ...Object.fromEntries(searchParams),
      ...Object.fromEntries(new URLSearchParams(body)),
    };
    const [row, make] = rows.find(([pattern]) => pattern.test(call)) ?? [];
    const found = make?.(form, row!.exec(call)![1] ?? '');
    const json = JSON.stringify(found ?? missing('thing', 'customer'));
    if (key !== undefined && found) byIdempotencyKey.set(key, { body, answer: json });
    await fake.beforeAnswer(call);
    send(found ? 200 : 400, json);
  }

  const server = createServer(
    (request, response) =>
      void answer(request, response).catch(error => request.socket.destroy(error)),
  );
  await new Promise<void>((resolve, reject) =>
    server.once('error', reject).listen(0, '127.0.0.1', resolve),
  );

  async function deliver(
    port: number,
    event: FakeEvent,
    { secret = WEBHOOK_SECRET, timestamp, body }: Delivery = {},
  ): Promise<Answer> {
    const payload = JSON.stringify(event);
    const signature = signer.webhooks.generateTestHeaderString({
      payload,
      secret,
      ...(timestamp !== undefined && { timestamp }),
    });
    const headers = {
      'content-type': 'application/json; charset=utf-8',
      'stripe-signature': signature,
    };
    return httpCall(port, 'POST', WEBHOOK_PATH, headers, body ?? payload);
  }

  const fake: StripeFake = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    world,
    calls: [],
    beforeAnswer: () => undefined,
    trouble: 'none',
    deliver,
    async deliverAll(port) {
      for (const event of world.takeEvents()) {
        const { status, body } = await deliver(port, event);
        if (status !== 200) throw new Error(`${event.type}: ${status} ${body}`);
      }
    },
    async close() {
      // The client keeps idle connections open.
      server.closeAllConnections();
      await new Promise(resolve => server.close(resolve));
      await sleep(0);
    },
  };
  return fake;
}

export const SECRET_KEY = 'sk_test_of_the_tests';
