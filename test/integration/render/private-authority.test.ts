import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { findOnPath } from '../../../standalone/cache.ts';
import { trustCaCertificates } from '../../../worker/browser/ca-certificates.ts';
import { readWorkerConfig } from '../../../worker/config.ts';
import { type Installation, installation } from '../../support/installation.ts';
import { pdfText } from '../../support/pdf.ts';
import { skip } from '../../support/skip.ts';
import { temporaryFolder } from '../../support/temporary.ts';

const run = promisify(execFile);
const KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];

describe('certificates of a private CA', () => {
  const at = temporaryFolder();
  let server: Server;
  let port: number;

  before(async function () {
    if (!findOnPath(['certutil'], process.env))
      skip(this, 'certutil is not installed (Debian, Ubuntu: libnss3-tools).');
    const openssl = (...args: string[]) => run('openssl', args);
    await openssl(
      'req',
      '-x509',
      ...KEY,
      '-keyout',
      at('ca.key'),
      '-out',
      at('ca.pem'),
      '-subj',
      '/CN=Corp',
      '-days',
      '30',
      '-addext',
      'keyUsage=critical,keyCertSign',
    );
    await openssl(
      'req',
      ...KEY,
      '-keyout',
      at('site.key'),
      '-out',
      at('site.csr'),
      '-subj',
      '/CN=wiki',
    );
    await writeFile(at('names'), 'subjectAltName=IP:127.0.0.1\nextendedKeyUsage=serverAuth\n');
    await openssl(
      'x509',
      '-req',
      '-in',
      at('site.csr'),
      '-CA',
      at('ca.pem'),
      '-CAkey',
      at('ca.key'),
      '-days',
      '20',
      '-extfile',
      at('names'),
      '-out',
      at('site.pem'),
    );
    server = createServer(
      { key: await readFile(at('site.key')), cert: await readFile(at('site.pem')) },
      (_, response) =>
        response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>INTERNAL WIKI</h1>'),
    );
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
    port = (server.address() as AddressInfo).port;
  });
  after(() => {
    server?.closeAllConnections();
    server?.close();
  });

  async function rendering<T>(
    env: Record<string, string>,
    work: (pressroom: Installation) => Promise<T>,
  ): Promise<T> {
    const pressroom = await installation({
      intranet: true,
      env: { PRESSROOM_EGRESS_ALLOW: `127.0.0.1:${port}`, ...env },
    });
    try {
      return await work(pressroom);
    } finally {
      await pressroom.stop();
    }
  }

  it('accepts a certificate whose CA is in the bundle of the worker', async () => {
    const [trusted, other] = [
      await readFile(at('ca.pem'), 'utf8'),
      await readFile(at('site.pem'), 'utf8'),
    ];
    await writeFile(at('bundle.pem'), `# The company\n${other}\n${trusted}`);
    const pdf = await rendering({ PRESSROOM_EGRESS_CA: at('bundle.pem') }, pressroom =>
      pressroom.pdf({ url: `https://127.0.0.1:${port}/` }),
    );
    expect(await pdfText(pdf)).to.include('INTERNAL WIKI');
  });

  it('fails with page_unreachable without the CA', async () => {
    const { status, code, reason } = await rendering({}, pressroom =>
      pressroom.renderError({ url: `https://127.0.0.1:${port}/` }),
    );
    expect({ status, code, reason }).to.deep.equal({
      status: 502,
      code: 'render_failed',
      reason: 'page_unreachable',
    });
  });

  it('rejects a bundle without certificates when the worker starts', async () => {
    await writeFile(at('empty.pem'), 'nothing');
    expect(() => readWorkerConfig({ PRESSROOM_EGRESS_CA: at('empty.pem') })).to.throw(
      /PRESSROOM_EGRESS_CA.*: the file contains no certificate/,
    );
  });

  it('names the position of an invalid certificate when Chrome fails to start', async () => {
    await writeFile(
      at('broken.pem'),
      '-----BEGIN CERTIFICATE-----\nbm90aGluZw==\n-----END CERTIFICATE-----\n',
    );
    const broken = await readFile(at('broken.pem'), 'utf8');
    const error = await trustCaCertificates(at('home'), broken, undefined).then(
      () => undefined,
      (error: Error) => error,
    );
    expect(error?.message).to.match(
      /^PRESSROOM_EGRESS_CA: adding certificate 1 of the bundle failed: certutil: /,
    );
  });
});
