import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chown,
  lchown,
  mkdir,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { createServer } from 'node:net';
import { expect } from 'chai';
import { MongoClient } from 'mongodb';
import { type ManagedMongod, managedUri } from '../../../standalone/mongod.ts';
import { spawnMongod } from '../../../standalone/mongod-process.ts';
import { MONGOD_UID } from '../../../standalone/mongod-user.ts';
import { eventually } from '../../support/eventually.ts';
import { freshMongod, mongodBinary } from '../../support/servers/mongod.ts';
import { skip } from '../../support/skip.ts';
import { temporaryFolder } from '../../support/temporary.ts';

const isGone = (pid: number) =>
  eventually(() => {
    expect(() => process.kill(pid, 0)).to.throw('ESRCH');
  });

async function onDatabase<T>(uri: string, work: (client: MongoClient) => Promise<T>): Promise<T> {
  const client = new MongoClient(uri, { serverSelectionTimeoutMS: 5_000 });
  try {
    return await work(client);
  } finally {
    await client.close();
  }
}

const write = (uri: string, text: string) =>
  onDatabase(uri, client =>
    client
      .db('kept')
      .collection('notes')
      .insertOne({ text }, { writeConcern: { w: 'majority' } }),
  );
const read = (uri: string) =>
  onDatabase(uri, async client =>
    (await client.db('kept').collection('notes').find().toArray()).map(({ text }) => text),
  );

describe('the managed mongod', () => {
  const at = temporaryFolder();
  const running = new Set<ManagedMongod>();

  const start = async (folder: string) => {
    const mongod = await freshMongod({ dataDir: at(folder), extraArgs: [] });
    running.add(mongod);
    return mongod;
  };

  afterEach(async () => {
    await Promise.all([...running].map(mongod => mongod.kill()));
    running.clear();
  });

  it('keeps data, port and password across a restart, in files that only its owner can read', async () => {
    const first = await start('kept');
    await write(first.uri, 'one');
    await first.stop();
    expect(await first.exited).to.equal('exit code 0');
    const second = await start('kept');
    expect(second.uri).to.equal(first.uri);
    expect(await read(second.uri)).to.deep.equal(['one']);
    expect(await managedUri(at('kept'))).to.equal(second.uri);
    for (const name of ['mongod.json', 'keyfile', 'mongod.log'])
      expect((await stat(at('kept', name))).mode & 0o077, name).to.equal(0);
  });

  it('moves to another port when its own is in use, even by a silent process, and stays writable', async () => {
    const first = await start('moving');
    await write(first.uri, 'one');
    await first.stop();
    const { port } = first;
    const squatter = createServer().listen(port, '127.0.0.1');
    await once(squatter, 'listening');
    try {
      const moved = await start('moving');
      expect(moved.port).not.to.equal(port);
      await write(moved.uri, 'two');
      expect(await read(moved.uri)).to.deep.equal(['one', 'two']);
    } finally {
      squatter.close();
    }
  });

  it('rejects clients without the password, including the creation of users', async () => {
    const { port } = await start('closed');
    const bare = `mongodb://127.0.0.1:${port}/?directConnection=true`;
    const rejected = (work: (client: MongoClient) => Promise<unknown>) =>
      onDatabase(bare, client =>
        work(client).then(
          () => 'allowed',
          (error: Error) => error.message,
        ),
      );
    expect(await rejected(client => client.db('kept').collection('notes').findOne())).to.match(
      /authentication/,
    );
    expect(
      await rejected(client =>
        client.db('admin').command({ createUser: 'eve', pwd: 'eve', roles: ['root'] }),
      ),
    ).to.match(/authentication/);
    expect(await rejected(client => client.db('admin').command({ shutdown: 1 }))).to.match(
      /authentication/,
    );
  });

  it('reports a stored password that does not match the data', async () => {
    await (await start('closed')).stop();
    const file = at('closed', 'mongod.json');
    const kept = await readFile(file, 'utf8');
    await writeFile(file, JSON.stringify({ ...JSON.parse(kept), password: 'another' }));
    const error = await freshMongod({ dataDir: at('closed'), extraArgs: [] }).catch(
      (reason: Error) => reason,
    );
    expect((error as Error).message).to.include('password');
  });

  it('starts after a first start that was killed before or after the user was created', async () => {
    const finished = await start('half');
    await finished.stop();
    const unfinish = async () => {
      const kept = await readFile(at('half', 'mongod.json'), 'utf8');
      await writeFile(at('half', 'mongod.json'), kept.replace('"founded":true', '"founded":false'));
    };
    // A replica set without a user, the state between the two steps.
    await rm(at('half', 'db'), { recursive: true });
    await mkdir(at('half', 'db'));
    const { port } = finished;
    const { path } = await mongodBinary();
    const args = [
      '--port',
      String(port),
      '--bind_ip',
      '127.0.0.1',
      '--replSet',
      'pressroom',
      '--auth',
      '--keyFile',
      at('half', 'keyfile'),
    ];
    const bare = await spawnMongod(path, args, at('half', 'db'), at('half', 'mongod.log'));
    const config = { _id: 'pressroom', members: [{ _id: 0, host: `127.0.0.1:${port}` }] };
    await onDatabase(`mongodb://127.0.0.1:${port}/?directConnection=true`, client =>
      client.db('admin').command({ replSetInitiate: config }),
    );
    await bare.stop(0);
    await unfinish();
    const second = await start('half');
    await write(second.uri, 'half');
    await second.stop();
    await unfinish();
    expect(await read((await start('half')).uri)).to.deep.equal(['half']);
  });

  it('ends when the process that started it is killed', async () => {
    const { path } = await mongodBinary();
    const module = new URL('../../../standalone/mongod.ts', import.meta.url).href;
    const script = `const { startMongod } = await import(${JSON.stringify(module)});
      console.log((await startMongod(${JSON.stringify({ binary: path, dataDir: at('leashed') })})).pid);`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = await once(child.stdout, 'data');
    const pid = Number(String(line));
    expect(execFileSync('ps', ['-o', 'args=', '-p', String(pid)], { encoding: 'utf8' })).to.include(
      '--dbpath',
    );
    child.kill('SIGKILL');
    await isGone(pid);
  });

  it('first ends a mongod that was left on the same folder', async () => {
    const left = await start('left');
    await write(left.uri, 'three');
    const next = await start('left');
    await isGone(left.pid);
    expect(await read(next.uri)).to.deep.equal(['three']);
  });

  describe('when started by root', () => {
    before(function () {
      if (process.getuid?.() !== 0) skip(this, 'only root can start it as another user');
    });

    const everything = async (folder: string) => [
      at(folder),
      ...(await readdir(at(folder), { recursive: true })).map(name => at(folder, name)),
    ];
    const ownersOf = async (folder: string) =>
      new Set(
        await Promise.all((await everything(folder)).map(async path => (await stat(path)).uid)),
      );
    /** The state left by the previous version, which ran mongod as root. */
    const giveToRoot = async (folder: string) => {
      for (const path of await everything(folder)) await lchown(path, 0, 0);
    };
    const startAsRoot = async (folder: string, { port }: { port: number }) => {
      const args = [
        '--port',
        String(port),
        '--bind_ip',
        '127.0.0.1',
        '--nounixsocket',
        '--replSet',
        'pressroom',
        '--auth',
      ];
      const keyFile = ['--keyFile', at(folder, 'keyfile')];
      return spawnMongod(
        (await mongodBinary()).path,
        [...args, ...keyFile],
        at(folder, 'db'),
        at(folder, 'mongod.log'),
      );
    };

    it('runs as its own user, which can read neither the password nor files outside its data', async () => {
      const { pid } = await start('own-user');
      expect(
        /^Uid:\s+(.*)$/m.exec(await readFile(`/proc/${pid}/status`, 'utf8'))![1]!.split('\t'),
      ).to.deep.equal(Array(4).fill(String(MONGOD_UID)));
      expect(/^Groups:\s*$/m.test(await readFile(`/proc/${pid}/status`, 'utf8'))).to.equal(true);
      await writeFile(at('pepper'), 'secret', { mode: 0o600 });
      const readAs = (path: string) => () =>
        execFileSync(
          'setpriv',
          [`--reuid=${MONGOD_UID}`, `--regid=${MONGOD_UID}`, '--clear-groups', 'cat', path],
          { stdio: 'pipe' },
        );
      for (const path of [at('pepper'), at('own-user', 'mongod.json')])
        expect(readAs(path), path).to.throw('Permission denied');
      for (const name of ['', 'mongod.json', 'mongod.log'])
        expect((await stat(at('own-user', name))).uid, name).to.equal(0);
      expect((await stat(at('own-user', 'keyfile'))).mode & 0o777).to.equal(0o600);
    });

    it('keeps data that the previous version wrote as root, and changes only its owner', async () => {
      const first = await start('of-root');
      await first.stop();
      await giveToRoot('of-root');
      const before = await startAsRoot('of-root', first);
      await write(first.uri, 'written as root');
      await before.stop(0);
      expect([...(await ownersOf('of-root'))]).to.deep.equal([0]);
      const second = await start('of-root');
      expect(await read(second.uri)).to.deep.equal(['written as root']);
      await second.stop();
      expect([...(await ownersOf('of-root/db'))]).to.deep.equal([MONGOD_UID]);
    });

    it('completes an interrupted change of the owner', async () => {
      const first = await start('broken-off');
      await write(first.uri, 'kept');
      await first.stop();
      await giveToRoot('broken-off');
      for (const path of (await everything('broken-off/db')).slice(1, 4))
        await chown(path, MONGOD_UID, MONGOD_UID);
      expect(await read((await start('broken-off')).uri)).to.deep.equal(['kept']);
    });

    it('follows no link out of the data, and names the fix', async () => {
      await (await start('linked')).stop();
      await giveToRoot('linked');
      await mkdir(at('elsewhere'));
      await writeFile(at('elsewhere', 'file'), '');
      await symlink(at('elsewhere'), at('linked', 'db', 'link'));
      const error = await freshMongod({ dataDir: at('linked'), extraArgs: [] }).catch(
        (reason: Error) => reason,
      );
      expect((error as Error).message)
        .to.include(`${at('linked', 'db', 'link')} is a symbolic link`)
        .and.include('chown -R');
      expect([...(await ownersOf('elsewhere'))]).to.deep.equal([0]);
    });
  });

  it('includes the error of mongod when it cannot start', async () => {
    const error = await freshMongod({
      dataDir: at('wrong'),
      extraArgs: ['--storageEngine', 'paper'],
    }).catch((reason: Error) => reason);
    expect((error as Error).message)
      .to.include('mongod did not start')
      .and.include('paper');
  });
});
