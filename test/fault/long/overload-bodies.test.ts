// Many clients with invalid or slow bodies or without a key: each gets a clear error while others
// are served.
import { expect } from 'chai';
import { createKeyText } from '../../../api/accounts/keys.ts';
import { eventually } from '../../support/eventually.ts';
import { rawConnection } from '../../support/http-fixture.ts';
import { type Deployment, type DeploymentAccount, startDeployment } from '../harness/deployment.ts';
import type { PressroomProcess } from '../harness/pressroom-process.ts';
import { ends, send } from '../overload-callers.ts';
import { largePdf } from '../overload-pages.ts';

const MIB = 2 ** 20;
const SMALL = Buffer.from(JSON.stringify({ html: '<p>small</p>' }));
const QUICK = `--import=${new URL('../overload-body-times.ts', import.meta.url)}`;
/** Uncollected garbage and socket buffers; 85 to 120 MiB were measured. */
const BESIDE_BYTES = 256 * MIB;

type Connection = Awaited<ReturnType<typeof rawConnection>>;

describe('an API process with invalid calls', function () {
  this.timeout(300_000);
  let deployment: Deployment;
  let api: PressroomProcess;
  let port: number;
  let account: DeploymentAccount;
  let beforeBytes: number;
  let connections: Connection[] = [];
  afterEach(async () => {
    for (const { socket } of connections) socket.destroy();
    connections = [];
    await deployment?.stop();
  });

  async function start(env: Record<string, string>): Promise<void> {
    deployment = await startDeployment({ apis: 1, workers: 1, api: env });
    port = deployment.apis[0]!.port;
    api = deployment.apis[0]!.process;
    account = await deployment.account('scale');
    for (let count = 0; count < 10; count++) await send(port, account.key, SMALL);
    beforeBytes = (await api.memory()).nowBytes;
  }

  async function open(): Promise<Connection> {
    const connection = await rawConnection(port);
    connections.push(connection);
    return connection;
  }

  async function isAtRest(): Promise<void> {
    for (const { socket } of connections) socket.destroy();
    await eventually(async () => {
      const metrics = await api.metrics();
      expect([
        metrics.sum('pressroom_in_flight_bytes'),
        metrics.sum('pressroom_http_connections'),
      ]).to.deep.equal([0, 0]);
    });
    expect((await api.memory()).peakBytes - beforeBytes).to.be.lessThan(BESIDE_BYTES);
    expect((await send(port, account.key, SMALL)).status).to.equal(200);
  }

  /** The head of a request with this key and these headers. */
  const head = (key: string, ...headers: string[]) =>
    [
      'POST /v1/render HTTP/1.1',
      'Host: x',
      `Authorization: Bearer ${key}`,
      'Content-Type: application/json',
      ...headers,
      '',
      '',
    ].join('\r\n');
  const chunk = (bytes: number) => `${bytes.toString(16)}\r\n${'a'.repeat(bytes)}\r\n`;

  /** Writes the bytes repeatedly with backpressure until the connection ends. */
  function pour({ socket, send }: Connection, text: string): void {
    const more = () => {
      while (!socket.destroyed && socket.writable && send(text)) {}
    };
    socket.on('drain', more);
    more();
  }
  function drip({ socket, send }: Connection): void {
    const timer = setInterval(() => send(' '), 100);
    socket.once('close', () => clearInterval(timer));
  }

  const wrong: [
    string,
    (connection: Connection, key: string) => void,
    { code: string; says: string },
  ][] = [
    [
      'a length over the limit',
      (c, key) => c.send(head(key, `Content-Length: ${MIB + 1}`)),
      { code: 'payload_too_large', says: String(MIB) },
    ],
    [
      'chunks over the limit, without end',
      (c, key) => {
        c.send(head(key, 'Transfer-Encoding: chunked'));
        pour(c, chunk(64 * 1024));
      },
      { code: 'payload_too_large', says: String(MIB) },
    ],
    [
      'a length that is no number',
      (c, key) => c.send(head(key, 'Content-Length: many')),
      { code: 'validation_error', says: 'not valid HTTP' },
    ],
    [
      'a length below nothing',
      (c, key) => c.send(head(key, 'Content-Length: -1')),
      { code: 'validation_error', says: 'not valid HTTP' },
    ],
    [
      'a chunk whose length is wrong',
      (c, key) =>
        c.send(`${head(key, 'Transfer-Encoding: chunked')}1\r\n{"html":"x"}\r\n0\r\n\r\n`),
      { code: 'validation_error', says: 'not valid HTTP' },
    ],
    [
      'less than it has announced, and its end',
      (c, key) => {
        c.send(`${head(key, 'Content-Length: 100')}{"html":`);
        c.socket.end();
      },
      { code: 'validation_error', says: 'not valid HTTP' },
    ],
    [
      'nothing of its body',
      (c, key) => c.send(head(key, 'Content-Length: 1000')),
      { code: 'validation_error', says: 'no data for 3 s' },
    ],
    [
      'a byte of its body now and then',
      (c, key) => {
        c.send(head(key, 'Content-Length: 1000'));
        drip(c);
      },
      { code: 'validation_error', says: 'slower than 2048 bytes per second after 5 s' },
    ],
    [
      '20,000 bytes of headers',
      (c, key) => c.send(head(key, `X-Long: ${'a'.repeat(20_000)}`)),
      { code: 'validation_error', says: 'larger than 16 KiB' },
    ],
    [
      'a byte of its headers now and then',
      c => {
        c.send('POST /v1/render HTTP/1.1\r\nHost: x\r\nX-Slow: ');
        drip(c);
      },
      { code: 'validation_error', says: 'did not arrive in time' },
    ],
  ];

  it('sends a clear error to 20 clients of every invalid kind, and serves others', async () => {
    await start({ PRESSROOM_BODY_MAX: '1MiB', NODE_OPTIONS: QUICK });
    // One client of each kind for each account, since accounts have separate bounds.
    const callers = await Promise.all(
      Array.from({ length: 20 }, () => deployment.account('scale')),
    );
    const answers = wrong.flatMap(([what, act, expected]) =>
      callers.map(async ({ key }) => {
        const connection = await open();
        act(connection, key);
        const { status, json } = await connection
          .answer()
          .catch(error => expect.fail(`${what}: ${error.message}`));
        expect(json().error, what).to.include({ code: expected.code });
        expect(json().error.message, what).to.include(expected.says);
        expect(status, what).to.equal(400);
        await connection.closed;
      }),
    );
    let over = false;
    const all = Promise.all(answers).finally(() => {
      over = true;
    });
    all.catch(() => {}); // looked at below
    const served: number[] = [];
    do served.push((await send(port, account.key, SMALL)).status);
    while (!over);
    await all;
    expect(new Set(served)).to.deep.equal(new Set([200]));
    await isAtRest();
  });

  it('rejects 100 anonymous clients before reading their bodies of 10 MiB', async () => {
    // Less than one body, so none could be held.
    await start({ PRESSROOM_BYTES_IN_FLIGHT: '1MiB' });
    const body = Buffer.alloc(10 * MIB, 'a');
    expect((await send(port, account.key, body)).error()).to.include({ code: 'payload_too_large' });
    const former = await deployment.account('scale');
    await deployment.cluster.client
      .db('pressroom')
      .collection<{ _id: string }>('accounts')
      .updateOne({ _id: former.id }, { $set: { keys: [] } });
    const strangers = Array.from(
      { length: 100 },
      (_, number) => [former.key, createKeyText(account.id), 'not a key', undefined][number % 4],
    );
    await Promise.all(
      strangers.map(async key => {
        const connection = await open();
        const authorization = key === undefined ? [] : [`Authorization: Bearer ${key}`];
        const lines = [
          'POST /v1/render HTTP/1.1',
          'Host: x',
          ...authorization,
          'Content-Type: application/json',
        ];
        connection.send([...lines, `Content-Length: ${body.length}`, '', ''].join('\r\n'));
        const answer = await connection.answer();
        expect(answer.status).to.equal(401);
        expect(answer.json().error).to.include({ code: 'unauthorized' });
        expect(answer.headers).to.include({ connection: 'close' });
      }),
    );
    expect(await ends(strangers.map(key => send(port, key, body)))).to.deep.equal({
      '401 unauthorized': 100,
    });
    await isAtRest();
  });

  it('holds only the PDF for a client that does not read it, until it disconnects', async () => {
    await start({});
    const request = largePdf(30);
    const body = JSON.stringify({
      ...request,
      html: `<!--${'a'.repeat(9 * MIB)}-->${request.html}`,
    });
    const connection = await open();
    connection.socket.pause();
    connection.send(`${head(account.key, `Content-Length: ${body.length}`)}${body}`);
    /** The body holds 27 MiB during its render. */
    const held = async () => (await api.metrics()).sum('pressroom_in_flight_bytes') / MIB;
    await eventually(async () => expect(await held()).to.be.within(30, 31), 120_000);
    connection.socket.destroy();
    await eventually(async () => expect(await held()).to.equal(0));
  });
});
