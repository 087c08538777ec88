import { execFileSync } from 'node:child_process';
import { expect } from 'chai';
import { findChrome } from '../../../worker/browser/find-chrome.ts';
import { type Installation, installation } from '../../support/installation.ts';
import { pdfText } from '../../support/pdf.ts';
import { type DnsServer, startDnsServer } from '../../support/servers/dns-server.ts';
import { type HstsServer, startHstsServer } from '../../support/servers/hsts-server.ts';
import { skip } from '../../support/skip.ts';
import { temporaryFolder } from '../../support/temporary.ts';

describe('HSTS', () => {
  const file = temporaryFolder();
  let dns: DnsServer;
  let server: HstsServer;
  let pressroom: Installation;

  before(async function () {
    try {
      execFileSync('openssl', ['version'], { stdio: 'pipe' });
    } catch {
      skip(this, 'openssl is not installed. It creates the certificate.');
    }
    dns = await startDnsServer();
    dns.set('strict.example', '127.0.0.1');
    server = await startHstsServer(
      'strict.example',
      file(),
      findChrome(process.env.PRESSROOM_CHROME),
    );
    pressroom = await installation({
      intranet: true,
      env: {
        PRESSROOM_CHROME: server.executable,
        PRESSROOM_DNS_SERVERS: dns.address,
        PRESSROOM_EGRESS_ALLOW: `127.0.0.1:${server.port}`,
      },
    });
  });
  after(async () => {
    await pressroom?.stop();
    await server?.close();
    await dns?.close();
  });
  beforeEach(() => {
    server.requests.length = 0;
  });

  const address = (scheme: string, path: string) =>
    `${scheme}://strict.example:${server.port}${path}`;

  it('upgrades later requests of the same render', async () => {
    const javascript = `location = '${address('http', '/again')}'`;
    const again = `location.pathname === '/again'`;
    const body = { url: address('https', '/'), javascript, wait_for_expression: again };
    expect(await pdfText(await pressroom.pdf(body))).to.include('https');
    expect(server.requests).to.include.members(['https /', 'https /again']);
  });

  it('does not carry over to the next render', async () => {
    await pressroom.pdf({ url: address('https', '/') });
    for (let i = 0; i < 3; i++)
      expect(await pdfText(await pressroom.pdf({ url: address('http', `/${i}`) }))).to.equal(
        'http\n\n\f',
      );
    expect(server.requests).to.include.members(['http /0', 'http /1', 'http /2']);
  });
});
