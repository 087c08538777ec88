import { once } from 'node:events';
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline, Readable } from 'node:stream';
import { KubeConfig } from '@kubernetes/client-node';
import { expect } from 'chai';
import { Transport, type WatchEvent } from '../../../../controller/kubernetes/transport.ts';
import { eventually } from '../../../support/eventually.ts';

describe('Kubernetes API transport', () => {
  let answer: RequestListener;
  let server: Server;
  let transport: Transport;
  let counts: string[];

  beforeEach(async () => {
    server = createServer((request, response) => answer(request, response)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const kubeConfig = new KubeConfig();
    kubeConfig.loadFromClusterAndUser(
      {
        name: 'one',
        server: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
        skipTLSVerify: true,
      },
      { name: 'someone' },
    );
    counts = [];
    const count = (_: unknown, outcome: string) => void counts.push(outcome);
    transport = new Transport(kubeConfig, { timeoutMs: 5_000, userAgent: 'tests', count });
  });
  afterEach(async () => {
    transport.close();
    server.closeAllConnections();
    await new Promise(resolve => server.close(resolve));
  });

  const get = () => transport.call({ verb: 'list', resource: 'pods', path: '/api/v1/pods' });
  const failureOf = (work: Promise<unknown>) =>
    work.then(
      () => expect.fail('it succeeded'),
      (error: Error) => error,
    );
  const watch = (onEvent: (event: WatchEvent) => void, signal = AbortSignal.timeout(15_000)) =>
    transport.watch(
      { resource: 'pods', path: '/api/v1/pods' },
      { idleMs: 10_000, signal, onEvent },
    );

  it('includes the body in the error if a response is not JSON', async () => {
    answer = (_, response) => response.end('<html>Sign in</html>');
    expect((await failureOf(get())).message).to.match(
      /^list pods: the response is not JSON.*<html>Sign in/,
    );
    expect(counts).to.deep.equal(['no_answer']);
  });

  it('rejects with the status if the body of an error response is not a Status object', async () => {
    for (const body of ['<html>Bad gateway</html>', 'null', '"no"', '']) {
      answer = (_, response) => response.writeHead(502).end(body);
      expect(await failureOf(get()), body).to.include({ name: 'KubernetesError', status: 502 });
    }
  });

  it('aborts a response that exceeds its size limit', async () => {
    answer = (_, response) => flood(response);
    expect((await failureOf(get())).message).to.include('larger than 67108864 bytes');
  });

  it('reassembles watch events from arbitrary chunks', async () => {
    const names = ['ä', '猫', '😀', 'plain'];
    const bytes = Buffer.from(
      names.map(name => `${JSON.stringify({ type: 'ADDED', object: { name } })}\n`).join('\n'),
    );
    answer = async (_, response) => {
      for (const byte of bytes) {
        response.write(Buffer.from([byte]));
        await new Promise(setImmediate);
      }
      response.end();
    };
    const received: unknown[] = [];
    await watch(({ object }) => received.push((object as { name: string }).name));
    expect(received).to.deep.equal(names);
  });

  it('reads a watch event of several megabytes', async () => {
    const big = 'x'.repeat(3 * 2 ** 20);
    answer = (_, response) =>
      response.end(`${JSON.stringify({ type: 'ADDED', object: { big } })}\n`);
    let length = 0;
    await watch(({ object }) => {
      length = (object as { big: string }).big.length;
    });
    expect(length).to.equal(big.length);
  });

  it('aborts a watch with an event that exceeds its size limit', async () => {
    answer = (_, response) => flood(response);
    expect((await failureOf(watch(() => {}))).message).to.include(
      'longer than 16777216 characters',
    );
  });

  it('sends calls while many watches are open', async () => {
    const many = 100;
    const open: ServerResponse[] = [];
    answer = ({ url }, response) => {
      if (!url!.includes('watch=true')) return response.end('{}');
      open.push(response.writeHead(200));
      return response.flushHeaders();
    };
    const ended = new AbortController();
    const watches = Array.from({ length: many }, () =>
      watch(() => {}, ended.signal).catch(() => {}),
    );
    await eventually(() => expect(open).to.have.length(many));
    expect(await get()).to.deep.equal({});
    ended.abort();
    await Promise.all(watches);
  });
});

/** Writes until the client closes the connection. */
function flood(response: ServerResponse): void {
  const piece = Buffer.alloc(2 ** 20, 'x');
  const forever = function* () {
    for (;;) yield piece;
  };
  pipeline(Readable.from(forever(), { objectMode: false }), response, () => {});
}
