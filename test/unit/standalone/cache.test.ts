import { chmod, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { cacheFolder, closedToOthers, findOnPath, installOnce } from '../../../standalone/cache.ts';
import {
  dataFolder,
  keepSecret,
  openDataFolder,
  readPrivate,
  writePrivate,
} from '../../../standalone/state.ts';
import { temporaryFolder } from '../../support/temporary.ts';

const failure = (promise: Promise<unknown>): Promise<Error> =>
  promise.then(
    () => expect.fail('it should have failed'),
    error => error as Error,
  );

describe('the folders of a standalone installation', () => {
  const at = temporaryFolder();

  it('are set by variables, otherwise by the conventions of the system', () => {
    expect(cacheFolder({ PRESSROOM_CACHE_DIR: '/a', XDG_CACHE_HOME: '/x' }, 1000)).to.equal('/a');
    expect(cacheFolder({ XDG_CACHE_HOME: '/x' }, 0)).to.equal('/var/cache/pressroom');
    expect(cacheFolder({ XDG_CACHE_HOME: '/x' }, 1000)).to.equal('/x/pressroom');
    expect(cacheFolder({}, 1000)).to.equal(join(homedir(), '.cache/pressroom'));
    expect(dataFolder({ PRESSROOM_DATA_DIR: '/a' }, 0)).to.equal('/a');
    expect(dataFolder({}, 0)).to.equal('/var/lib/pressroom');
    expect(dataFolder({ XDG_DATA_HOME: '/x' }, 1000)).to.equal('/x/pressroom');
    expect(dataFolder({}, 1000)).to.equal(join(homedir(), '.local/share/pressroom'));
  });

  it('are closed to other users when they contain data', async () => {
    await mkdir(at('data'), { mode: 0o755 });
    await openDataFolder(at('data'));
    expect((await stat(at('data'))).mode & 0o777).to.equal(0o700);
  });

  it('are named in the error, with the variable, when they cannot be created', async () => {
    await writeFile(at('file'), '');
    const error = await failure(openDataFolder(at('file', 'data')));
    expect(error.message)
      .to.include(at('file', 'data'))
      .and.include('ENOTDIR')
      .and.include('PRESSROOM_DATA_DIR');
  });

  it('keep a secret in a file that only its owner can read, and never change it', async () => {
    await openDataFolder(at('data'));
    const pepper = await keepSecret(at('data'), 'pepper');
    expect(pepper.length).to.be.greaterThan(40);
    expect((await stat(at('data', 'pepper'))).mode & 0o777).to.equal(0o600);
    expect(await keepSecret(at('data'), 'pepper')).to.equal(pepper);
  });

  it('replace the content of a file atomically and leave no temporary file', async () => {
    await mkdir(at('whole'));
    await writePrivate(at('whole', 'a'), 'one');
    await writePrivate(at('whole', 'a'), 'two');
    expect(await readFile(at('whole', 'a'), 'utf8')).to.equal('two');
    expect(await readdir(at('whole'))).to.deep.equal(['a']);
    expect(await readPrivate(at('whole', 'b'))).to.equal(undefined);
  });
});

describe('the cache of downloaded programs', () => {
  const at = temporaryFolder();

  it('keeps the first of two concurrent installations', async () => {
    const both = await Promise.all(
      ['first', 'second'].map(text =>
        installOnce(at('cache'), 'tool', folder => writeFile(join(folder, 'text'), text)),
      ),
    );
    expect(both).to.deep.equal([at('cache', 'tool'), at('cache', 'tool')]);
    expect(await readFile(at('cache', 'tool', 'text'), 'utf8')).to.be.oneOf(['first', 'second']);
    expect(await readdir(at('cache'))).to.deep.equal(['tool']);
  });

  it('removes the files of a failed installation', async () => {
    const error = await failure(
      installOnce(at('cache'), 'broken', async folder => {
        await writeFile(join(folder, 'half'), '');
        throw new Error('no more');
      }),
    );
    expect(error.message).to.equal('no more');
    expect(await readdir(at('cache'))).not.to.include('broken');
    expect((await readdir(at('cache'))).filter(name => name.startsWith('.'))).to.deep.equal([]);
  });

  it('is accessible to every user, since Chrome runs as another one', async () => {
    const folder = await installOnce(at('cache'), 'open', file =>
      writeFile(join(file, 'chrome'), '', { mode: 0o755 }),
    );
    expect((await stat(folder)).mode & 0o777).to.equal(0o755);
    expect(await closedToOthers('/bin/sh')).to.equal(undefined);
    // A temporary folder is closed to other users, so the check returns that folder.
    expect(await closedToOthers(join(folder, 'chrome'))).to.equal(at());
  });

  it('is searched after PATH, whose folders count in order and only with executable files', async () => {
    for (const [folder, mode] of [
      ['a', 0o644],
      ['b', 0o755],
      ['c', 0o755],
    ] as const) {
      await mkdir(at(folder));
      await writeFile(at(folder, 'tool'), '');
      await chmod(at(folder, 'tool'), mode);
    }
    await writeFile(at('c', 'better'), '', { mode: 0o755 });
    const env = { PATH: ['relative', at('a'), at('b'), at('c')].join(':') };
    expect(findOnPath(['tool'], env)).to.equal(at('b', 'tool'));
    expect(findOnPath(['better', 'tool'], env)).to.equal(at('c', 'better'));
    expect(findOnPath(['none'], env)).to.equal(undefined);
  });
});
