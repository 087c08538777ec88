// HTTP API.
import { execFileSync } from 'node:child_process';
import { createServer as createHttps } from 'node:https';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { connectStore } from '../../../api/store/store.ts';
import type { DoctorCheck } from '../../../cli/doctor/doctor-check.ts';
import { silentLog } from '../../../common/log.ts';
import { RELEASE } from '../../../common/operations.ts';
import { spawnMongod } from '../../../standalone/mongod-process.ts';
import { type PressroomProcess, startPressroom } from '../../fault/harness/pressroom-process.ts';
import { eventually } from '../../support/eventually.ts';
import { httpCall } from '../../support/http-call.ts';
import { runNodeProgram } from '../../support/run-program.ts';
import { expiredCertificate } from '../../support/servers/certificate.ts';
import { freePort } from '../../support/servers/free-port.ts';
import { mongodBinary, testDatabase } from '../../support/servers/mongod.ts';
import { skip } from '../../support/skip.ts';
import { temporaryFolder } from '../../support/temporary.ts';
import { startTogether } from '../../support/together.ts';
import { startWorker, TEST_SECRET, type TestWorker } from '../../support/worker.ts';

const IN_IMAGE = fileURLToPath(new URL('../../../cli/in-image.ts', import.meta.url));

describe('pressroom doctor in the image', () => {
  const at = temporaryFolder();
  let worker: TestWorker;
  let api: PressroomProcess;
  let env: Record<string, string>;

  before(async () => {
    worker = await startWorker();
    const [port, operationsPort] = [await freePort(), await freePort()];
    env = {
      MONGODB_URI: (await testDatabase()).uri,
      PRESSROOM_PEPPER: 'a pepper of the tests',
      PRESSROOM_POOL_SECRET: TEST_SECRET,
      PRESSROOM_WORKERS: worker.address,
      PRESSROOM_HOST: '127.0.0.1',
      PRESSROOM_PORT: String(port),
      PRESSROOM_PUBLIC_URL: `http://localhost:${port}`,
      PRESSROOM_OPERATIONS_HOST: '127.0.0.1',
      PRESSROOM_OPERATIONS_PORT: String(operationsPort),
      PRESSROOM_DRAIN_DELAY: '0s',
    };
    api = startPressroom('api', 'api', operationsPort, env);
    await api.untilReady();
    await eventually(async () => {
      expect((await httpCall(port, 'GET', '/readyz')).status).to.equal(200);
    });
  });
  after(async () => {
    await api?.kill('SIGTERM');
    await worker?.stop();
  });

  const run = (args: string[] = [], more: Record<string, string> = {}) =>
    runNodeProgram(IN_IMAGE, ['doctor', ...args], { ...env, ...more });

  /** The lines of `subject`, and the exit code. */
  async function checks(more: Record<string, string> = {}, args: string[] = []) {
    const { code, out, errors } = await run(['--json', ...args], more);
    expect(errors).to.equal('');
    const all = (JSON.parse(out) as { checks: DoctorCheck[] }).checks;
    const of = (subject: string) => all.find(each => each.subject === subject)!;
    return { code, all, of };
  }

  const silent = {
    mongodb: (port: number) => ({
      MONGODB_URI: `mongodb://user:hunter22@127.0.0.1:${port}/?replicaSet=rs`,
    }),
    worker: (port: number) => ({ PRESSROOM_WORKERS: `ws://127.0.0.1:${port}` }),
    name: () => ({ PRESSROOM_WORKERS: 'dns://workers.invalid:9222' }),
    pool: () => ({ PRESSROOM_POOL: 'other' }),
  };
  // Each run waits until the end for what does not respond.
  const without = startTogether(Object.values(silent), async settings => {
    const port = await freePort();
    return { port, ...(await checks(settings(port))) };
  });

  it('finds no problem, and prints one line for each check', async () => {
    const { code, out, errors } = await run();
    expect(code, out + errors).to.equal(0);
    const lines = out.trimEnd().split('\n');
    for (const line of lines) expect(line).to.match(/^(ok|warning) {2,}[A-Z][\w ,]+: .+\.$/);
    // The database of the tests has one member, and the machine may be busy.
    const warned = lines.flatMap(line => /^warning {2}([^:]+)/.exec(line)?.[1] ?? []);
    expect(['Replica set', 'Write concern', 'Read', 'Database']).to.include.members(warned);
    expect(out).to.include('1 of 1 workers can render, with 2 slots.');
    expect(out).to.include('Chrome runs in its sandbox on all 1 workers.');
    expect(out).to.include(`Workers are ${RELEASE}, the API ${RELEASE}.`);
    expect(out).to.include(`http://localhost:${env['PRESSROOM_PORT']} leads here.`);
    for (const secret of [TEST_SECRET, 'a pepper of the tests']) expect(out).to.not.include(secret);
  });

  it('reports MongoDB that does not respond, without the password of its URI', async () => {
    const { code, all, of } = await without(silent.mongodb);
    expect(code).to.equal(1);
    expect(of('Database')).to.include({ level: 'error' });
    expect(of('Database').message).to.include('does not respond');
    expect(JSON.stringify(all)).to.not.include('hunter22');
    expect(of('Workers').level).to.equal('ok');
  });

  it('reports a standalone mongod', async () => {
    const port = await freePort();
    const { path } = await mongodBinary();
    const mongod = await spawnMongod(
      path,
      ['--port', String(port), '--bind_ip', '127.0.0.1'],
      at(),
      at('mongod.log'),
    );
    try {
      const { code, of } = await eventually(async () => {
        const result = await checks({ MONGODB_URI: `mongodb://127.0.0.1:${port}/` });
        expect(result.of('Database').message).to.not.include('does not respond');
        return result;
      }, 30_000);
      expect(code).to.equal(1);
      expect(of('Database')).to.include({ level: 'error' });
      expect(of('Database').message).to.include('not part of a replica set');
    } finally {
      await mongod.stop(0);
    }
  });

  it('reports that no worker responds', async () => {
    const { code, of, port } = await without(silent.worker);
    expect(code).to.equal(1);
    expect(of('Workers')).to.include({ level: 'error' });
    expect(of('Workers').message).to.include(`ws://127.0.0.1:${port}`);
  });

  it('names a host name of workers that does not resolve, and a worker of another pool', async () => {
    const unresolved = await without(silent.name);
    expect(unresolved.of('Workers').message).to.include('workers.invalid').and.include('ENOTFOUND');
    // Its ticket is rejected before any status.
    const other = await without(silent.pool);
    expect(other.of('Workers')).to.include({ level: 'error' });
  });

  it('warns of a worker whose sandbox is off', async () => {
    const open = await startWorker({ PRESSROOM_CHROME_SANDBOX: 'off' });
    try {
      const { code, of } = await checks({
        PRESSROOM_WORKERS: `${worker.address},${open.address}`,
      });
      expect(code).to.equal(0);
      expect(of('Workers').message).to.include('2 of 2 workers');
      expect(of('Sandbox')).to.include({ level: 'warning' });
      expect(of('Sandbox').message).to.include(open.address).and.not.include(worker.address);
    } finally {
      await open.stop();
    }
  });

  it('reports a public URL of another installation, of another server, and of none', async () => {
    const withPort = (port: unknown) =>
      checks({ PRESSROOM_PUBLIC_URL: `http://127.0.0.1:${port}` });
    const [another, server, none] = await Promise.all([
      withPort(env['PRESSROOM_PORT']),
      withPort(env['PRESSROOM_OPERATIONS_PORT']),
      withPort(await freePort()),
    ]);
    expect(another.code).to.equal(1);
    expect(another.of('Public URL').message).to.include(
      `is http://localhost:${env['PRESSROOM_PORT']}`,
    );
    expect(server.of('Public URL').message).to.include('does not lead to Pressroom');
    expect(none.of('Public URL')).to.include({ level: 'warning' });
    expect(none.of('Public URL').message).to.include('ECONNREFUSED');
  });

  it('reports an expired certificate of the public URL', async function () {
    try {
      execFileSync('openssl', ['version'], { stdio: 'pipe' });
    } catch {
      skip(this, 'openssl is not installed. It creates the certificate.');
    }
    const server = createHttps(expiredCertificate(at()), (_, response) => response.end('{}'));
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
    try {
      const { port } = server.address() as AddressInfo;
      const { code, of } = await checks({ PRESSROOM_PUBLIC_URL: `https://localhost:${port}` });
      expect(code).to.equal(1);
      expect(of('Certificate')).to.include({ level: 'error' });
      expect(of('Certificate').message).to.include('expired on');
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });

  it('warns when requests come through a proxy that is not trusted', async () => {
    expect((await checks()).of('Proxies').level).to.equal('ok');
    await httpCall(Number(env['PRESSROOM_PORT']), 'GET', '/healthz', {
      'x-forwarded-for': '203.0.113.7',
    });
    const { code, of } = await checks();
    expect(code).to.equal(0);
    expect(of('Proxies')).to.include({ level: 'warning' });
    expect(of('Proxies').fix).to.include('PRESSROOM_TRUSTED_PROXIES');
  });

  it('reports Prometheus that does not respond', async () => {
    const url = `http://127.0.0.1:${await freePort()}`;
    const { code, of } = await checks({}, ['--prometheus', url]);
    expect(code).to.equal(1);
    expect(of('Prometheus').message).to.include(url).and.include('ECONNREFUSED');
  });

  it('reports that no API process responds', async () => {
    const { code, of } = await checks({ PRESSROOM_PORT: String(await freePort()) });
    expect(code).to.equal(1);
    expect(of('API')).to.include({ level: 'error' });
  });

  it('leaves nothing in the database', async () => {
    const store = connectStore({ uri: env['MONGODB_URI']!, operationTimeoutMs: 5_000 }, silentLog);
    expect(await store.meta.countDocuments({ _id: /^doctor/ as never })).to.equal(0);
    await store.stop(AbortSignal.timeout(5_000));
  });

  it('names the missing variables outside a pod of the API', async () => {
    const { code, errors } = await runNodeProgram(IN_IMAGE, ['doctor'], {});
    expect(code).to.equal(2);
    expect(errors)
      .to.include('MONGODB_URI is missing')
      .and.include('PRESSROOM_POOL_SECRET is missing');
  });
});
