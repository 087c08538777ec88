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

describe('pages whose certificates a private authority has signed', () => {
  const at = temporaryFolder();
  let server: Server;
  let port: number;

  before(async function () {
    if (!findOnPath(['certutil'], process.env))
      skip(this, 'certutil is not here (Debian, Ubuntu: libnss3-tools)');
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
        response
          .writeHead(200, { 'content-type': 'text/html' })
          .end('<h1>THE WIKI OF THE COMPANY</h1>'),
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
    work: (site: Installation) => Promise<T>,
  ): Promise<T> {
    const site = await installation({
      intranet: true,
      env: { PRESSROOM_EGRESS_ALLOW: `127.0.0.1:${port}`, ...env },
    });
    try {
      return await work(site);
    } finally {
      await site.stop();
    }
  }

  it('are printed when the worker is told of the authority, also from a bundle of several', async () => {
    const [ours, other] = [
      await readFile(at('ca.pem'), 'utf8'),
      await readFile(at('site.pem'), 'utf8'),
    ];
    await writeFile(at('bundle.pem'), `# The company\n${other}\n${ours}`);
    const pdf = await rendering({ PRESSROOM_EGRESS_CA: at('bundle.pem') }, site =>
      site.pdf({ url: `https://127.0.0.1:${port}/` }),
    );
    expect(await pdfText(pdf)).to.include('THE WIKI OF THE COMPANY');
  });

  it('are page_unreachable when it is not', async () => {
    const { status, code, reason } = await rendering({}, site =>
      site.renderError({ url: `https://127.0.0.1:${port}/` }),
    );
    expect({ status, code, reason }).to.deep.equal({
      status: 502,
      code: 'render_failed',
      reason: 'page_unreachable',
    });
  });

  it('are told of by a file that has no certificate: the worker does not start', async () => {
    await writeFile(at('empty.pem'), 'nothing');
    expect(() => readWorkerConfig({ PRESSROOM_EGRESS_CA: at('empty.pem') })).to.throw(
      /PRESSROOM_EGRESS_CA.*: the file has no certificate/,
    );
  });

  it('are told of by a certificate that is none: Chrome does not start, and the reason names it', async () => {
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
      /^PRESSROOM_EGRESS_CA: certificate 1 of the bundle is not taken: certutil: /,
    );
  });
});
