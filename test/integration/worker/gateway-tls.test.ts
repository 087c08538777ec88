import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { connect } from 'node:tls';
import { expect } from 'chai';
import { readApiConfig } from '../../../api/config.ts';
import { readWorkerConfig } from '../../../worker/config.ts';
import { eventually } from '../../support/eventually.ts';
import { type Installation, installation } from '../../support/installation.ts';
import { skip } from '../../support/skip.ts';
import { temporaryFolder } from '../../support/temporary.ts';
import { startWorker, type TestWorker } from '../../support/worker.ts';

/** Creates `ca.pem`, and NAME.pem and NAME.key for each name, signed by it. */
function sign(folder: string, names: string[]): void {
  const openssl = (...args: string[]) =>
    execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' });
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  openssl(
    'req',
    '-x509',
    ...key,
    '-keyout',
    'ca.key',
    '-out',
    'ca.pem',
    '-subj',
    '/CN=test authority',
  );
  for (const name of names) {
    openssl(
      'req',
      ...key,
      '-keyout',
      `${name}.key`,
      '-out',
      `${name}.csr`,
      '-subj',
      `/CN=${name}`,
      '-addext',
      `subjectAltName=DNS:${name}`,
    );
    openssl(
      'x509',
      '-req',
      '-in',
      `${name}.csr`,
      '-CA',
      'ca.pem',
      '-CAkey',
      'ca.key',
      '-CAcreateserial',
      '-days',
      '2',
      '-copy_extensions',
      'copy',
      '-out',
      `${name}.pem`,
    );
  }
}

describe('the gateway with mutual TLS', () => {
  const file = temporaryFolder();
  let worker: TestWorker;
  let port: number;
  const installations: Installation[] = [];

  before(async function () {
    try {
      execFileSync('openssl', ['version'], { stdio: 'pipe' });
    } catch {
      return skip(this, 'openssl is not on this machine');
    }
    sign(file(), ['localhost', 'api']);
    worker = await startWorker({
      PRESSROOM_GATEWAY_TLS_CERT: file('localhost.pem'),
      PRESSROOM_GATEWAY_TLS_KEY: file('localhost.key'),
      PRESSROOM_GATEWAY_TLS_CLIENT_CA: file('ca.pem'),
    });
    port = worker.worker.port();
  });
  after(async () => {
    for (const pressroom of installations) await pressroom.stop();
    await worker?.stop();
  });

  const api = async (env: Record<string, string>) => {
    const pressroom = await installation({
      workers: 0,
      env: { PRESSROOM_WORKERS: `wss://localhost:${port}`, ...env },
    });
    installations.push(pressroom);
    return pressroom;
  };
  const known = async (pressroom: Installation) =>
    (await pressroom.metrics.text()).includes('pressroom_workers_known{pool="default"} 1');

  it('accepts an API with a certificate of the CA', async () => {
    const pressroom = await api({
      PRESSROOM_WORKERS_TLS_CA: file('ca.pem'),
      PRESSROOM_WORKERS_TLS_CERT: file('api.pem'),
      PRESSROOM_WORKERS_TLS_KEY: file('api.key'),
    });
    await eventually(async () => expect(await known(pressroom)).to.equal(true));
    expect((await pressroom.render({ html: '<h1>over TLS</h1>' })).status).to.equal(200);
  });

  it('rejects and counts an API without a certificate', async () => {
    const pressroom = await api({ PRESSROOM_WORKERS_TLS_CA: file('ca.pem') });
    await eventually(async () =>
      expect(await worker.metrics.text()).to.match(
        /pressroom_gateway_refused_total\{reason="tls"\} [1-9]/,
      ),
    );
    expect(await known(pressroom)).to.equal(false);
  });

  it('is rejected by an API that does not trust the CA', async () => {
    const rejected = await worker.metrics.text();
    const pressroom = await api({
      PRESSROOM_WORKERS_TLS_CERT: file('api.pem'),
      PRESSROOM_WORKERS_TLS_KEY: file('api.key'),
    });
    await eventually(async () => expect(await worker.metrics.text()).to.not.equal(rejected));
    expect(await known(pressroom)).to.equal(false);
  });

  it('rejects plain connections, and still requires a ticket', async () => {
    await expect401(port, file);
  });

  it('requires certificate and key together', () => {
    expect(() => readWorkerConfig({ PRESSROOM_GATEWAY_TLS_CERT: file('localhost.pem') })).to.throw(
      'PRESSROOM_GATEWAY_TLS_KEY',
    );
    expect(() => readWorkerConfig({ PRESSROOM_GATEWAY_TLS_CLIENT_CA: file('ca.pem') })).to.throw(
      'PRESSROOM_GATEWAY_TLS_CERT',
    );
    expect(() => readApiConfig({ PRESSROOM_WORKERS_TLS_KEY: file('api.key') })).to.throw(
      'PRESSROOM_WORKERS_TLS_CERT',
    );
    expect(() => readApiConfig({ PRESSROOM_WORKERS_TLS_CA: file('nothing.pem') })).to.throw(
      /PRESSROOM_WORKERS_TLS_CA=.*ENOENT/,
    );
  });
});

/** Connects over TLS with a valid certificate but without a ticket. */
async function expect401(port: number, file: (name: string) => string): Promise<void> {
  const [ca, cert, key] = ['ca.pem', 'api.pem', 'api.key'].map(name => readFileSync(file(name)));
  const socket = connect({
    host: '127.0.0.1',
    port,
    servername: 'localhost',
    ca: ca!,
    cert: cert!,
    key: key!,
  });
  socket.write(
    'GET /v1/slot HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n\r\n',
  );
  let answer = '';
  for await (const piece of socket) answer += piece;
  expect(answer).to.match(/^HTTP\/1\.1 401 /);
  expect(
    await fetch(`http://127.0.0.1:${port}/`).then(
      () => 'answered',
      () => 'nothing',
    ),
  ).to.equal('nothing');
}
