import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { MongoClient } from 'mongodb';
import { ownPort } from '../fault/harness/ports.ts';
import { eventually } from '../support/eventually.ts';
import { mongodBinary } from '../support/servers/mongod.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { findHelm, type KubeObject, one } from './chart/helm.ts';
import { MATRIX } from './chart/matrix.ts';
import { BUILD_LIMIT_MS } from './kube/binaries.ts';

const MINUTE_MS = 60_000;
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const SECRETS = { password: 'p'.repeat(43), keyfile: 'k'.repeat(43) };

describe('bundled MongoDB of the chart', function () {
  this.timeout(3 * MINUTE_MS);
  const folder = temporaryFolder();
  const children: ChildProcess[] = [];
  let containers: Record<'mongodb' | 'found-set', KubeObject>;
  let apiUri: string;
  let port: number;

  before(async function () {
    this.timeout(BUILD_LIMIT_MS);
    const helm = await findHelm(this);
    const objects = await helm.template(MATRIX['a bundled MongoDB']);
    const pod = one(objects, 'StatefulSet').spec.template.spec;
    containers = Object.fromEntries(
      pod.containers.map((container: KubeObject) => [container.name, container]),
    ) as typeof containers;
    const { env } = one(objects, 'Deployment', 'room-api').spec.template.spec.containers[0];
    apiUri = env.find(({ name }: KubeObject) => name === 'MONGODB_URI').value;
    port = await ownPort();
    await mkdir(folder('data'));
  });
  after(async () => {
    for (const child of children) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
  });

  /** Replaces paths and ports of the chart by local ones. */
  const local = (text: string) =>
    text
      // First, because the repository may be in /tmp too.
      .replaceAll('/tmp/', `${folder('.')}/`)
      .replaceAll('/app/', ROOT)
      .replaceAll('/data/db', folder('data'))
      .replace(/[a-z-]+-0\.[a-z-]+:27017/, `localhost:${port}`)
      .replaceAll('27017', String(port));

  async function start(name: keyof typeof containers): Promise<ChildProcess> {
    const [program, ...args] = containers[name].command.map(local);
    const env = Object.fromEntries(
      containers[name].env.map(({ name: variable, value, valueFrom }: KubeObject) => [
        variable,
        valueFrom ? SECRETS[valueFrom.secretKeyRef.key as keyof typeof SECRETS] : local(value),
      ]),
    );
    const { path } = await mongodBinary();
    const child = spawn(program, args, {
      env: { PATH: `${dirname(path)}:${process.env.PATH}`, ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    children.push(child);
    return child;
  }

  const outputOf = (child: ChildProcess) => {
    let text = '';
    child.stdout!.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    return () => text;
  };

  it('becomes a replica set with authentication, whichever container starts first', async () => {
    const initiator = outputOf(await start('found-set'));
    outputOf(await start('mongodb'));
    await eventually(() => expect(initiator()).to.match(/the replica set is ready/), MINUTE_MS);
    const uri = local(apiUri).replace('$(MONGODB_PASSWORD)', SECRETS.password);
    const client = new MongoClient(uri);
    try {
      await client
        .db()
        .collection('things')
        .insertOne({ kept: true }, { writeConcern: { w: 'majority' } });
      const { members } = await client.db('admin').command({ replSetGetStatus: 1 });
      expect(members.map(({ name }: KubeObject) => name)).to.deep.equal([`localhost:${port}`]);
    } finally {
      await client.close();
    }
    const unauthenticated = new MongoClient(`mongodb://localhost:${port}/?directConnection=true`);
    const error = await unauthenticated
      .db('pressroom')
      .collection('things')
      .findOne()
      .catch((error: Error) => error.message);
    await unauthenticated.close();
    expect(error).to.match(/authentication/);
  });

  it('accepts an initiated replica set after a restart of its sidecar, which exits on SIGTERM', async () => {
    const child = await start('found-set');
    const text = outputOf(child);
    await eventually(() => expect(text()).to.match(/the replica set is ready/), MINUTE_MS);
    child.kill('SIGTERM');
    expect((await once(child, 'exit'))[0]).to.equal(0);
  });
});
