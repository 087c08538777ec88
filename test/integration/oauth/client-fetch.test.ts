// @proves client-metadata-documents
// The fetch of apps' metadata documents from real servers: rejected URLs, addresses and documents.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import {
  type ClientFetch,
  type ClientFetchOptions,
  createClientFetch,
} from '../../../api/console/oauth/client-fetch.ts';
import { parseNetwork } from '../../../common/addresses.ts';
import { selfSigned } from '../../support/servers/certificate.ts';
import { type DnsServer, startDnsServer } from '../../support/servers/dns-server.ts';
import { temporaryFolder } from '../../support/temporary.ts';

const errorOf = (fetching: Promise<unknown>) =>
  fetching.then(
    () => 'fetched',
    (error: Error) => error.message,
  );

describe('the fetch of an app’s metadata document', () => {
  const folder = temporaryFolder();
  let server: Server;
  let port: number;
  let fetchIt: ClientFetch;
  let names: DnsServer;
  let known: ClientFetchOptions;
  let calls = 0;
  let answer: (request: IncomingMessage, response: ServerResponse) => void;
  before(async () => {
    const { key, cert } = selfSigned(folder(), ['DNS:localhost', 'IP:127.0.0.1']);
    server = createServer({ key, cert }, (request, response) => {
      calls += 1;
      answer(request, response);
    });
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
    port = (server.address() as AddressInfo).port;
    names = await startDnsServer();
    names.set('localhost', '127.0.0.1');
    known = { nameServers: [names.address], port, ca: cert };
    fetchIt = createClientFetch({ ...known, isGood: address => address === '127.0.0.1' });
  });
  beforeEach(() => {
    calls = 0;
  });
  after(async () => {
    await names?.close();
    server?.closeAllConnections();
    await new Promise(resolve => server.close(resolve));
  });

  const url = () => `https://localhost:${port}/app.json`;
  const serve = (document: unknown, status = 200, headers = {}) => {
    answer = (_request, response) =>
      response.writeHead(status, headers).end(JSON.stringify(document));
  };

  it('returns the supported fields of the document only', async () => {
    serve(
      {
        client_id: url(),
        client_name: 'A Client',
        redirect_uris: ['https://app.example/cb'],
        scope: 'more',
        jwks_uri: 'https://app.example/keys',
        logo_uri: 'http://127.0.0.1/x',
      },
      200,
      { 'cache-control': 'max-age=700' },
    );
    const response = await fetchIt(url());
    expect(response.headers.get('cache-control')).to.equal('max-age=700');
    expect(await response.json()).to.deep.equal({
      client_id: url(),
      client_name: 'A Client',
      redirect_uris: ['https://app.example/cb'],
      token_endpoint_auth_method: 'none',
      application_type: 'native',
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
    });
  });

  it('contacts no address that is not public, in any notation', async () => {
    serve({});
    const careful = createClientFetch(known);
    for (const host of [
      'localhost',
      '127.0.0.1',
      '[::1]',
      '127.1',
      '0x7f000001',
      '2130706433',
      '[::ffff:127.0.0.1]',
      '10.0.0.1',
      '169.254.169.254',
      '0.0.0.0',
    ])
      expect(await errorOf(careful(`https://${host}:${port}/app.json`)), host).to.match(
        /not public|no public address/,
      );
    expect(calls).to.equal(0);
  });

  it('contacts no address in a denied network', async () => {
    serve({});
    const closed = createClientFetch({
      ...known,
      deny: [parseNetwork('127.0.0.0/8')!],
      isGood: () => true,
    });
    for (const host of ['127.0.0.1', 'localhost', '[::ffff:127.0.0.1]'])
      expect(await errorOf(closed(`https://${host}:${port}/app.json`)), host).to.match(
        /not public|no public address/,
      );
    const closedPublic = createClientFetch({ deny: [parseNetwork('8.8.8.0/24')!] });
    expect(await errorOf(closedPublic('https://8.8.8.8/app.json'))).to.equal(
      'the address is not public',
    );
    expect(calls).to.equal(0);
  });

  it('contacts no name with an address that is not public', async () => {
    serve({});
    names.set('mixed.example', '127.0.0.1', '::1');
    const one = createClientFetch({ ...known, isGood: address => address === '127.0.0.1' });
    expect(await errorOf(one(`https://mixed.example:${port}/app.json`))).to.equal(
      'the name has no public address',
    );
    expect(calls).to.equal(0);
  });

  it('does not block the process with names that get no DNS response', async () => {
    // Twice as many as the threads of Node's thread pool.
    const slow = Array.from({ length: 8 }, (_, n) => `slow${n}.example`);
    for (const name of slow) names.misbehave(name, 'silent');
    const leaving = new AbortController();
    const asking = slow.map(name =>
      errorOf(fetchIt(`https://${name}:${port}/app.json`, { signal: leaving.signal })),
    );
    await Promise.all(slow.map(name => names.asked(name)));
    leaving.abort();
    await Promise.all(asking);
  });

  it('accepts https on the default port only', async () => {
    const usual = createClientFetch({ isGood: () => true });
    for (const wrong of [
      `http://localhost:${port}/x`,
      url(),
      `https://localhost/${'x'.repeat(600)}`,
      'ftp://localhost/x',
      'file:///etc/passwd',
    ])
      expect(await errorOf(usual(wrong)), wrong).to.match(/must be short and use https/);
    expect(calls).to.equal(0);
  });

  it('does not follow redirects', async () => {
    serve({}, 302, { location: 'https://localhost/other' });
    const response = await fetchIt(url());
    expect(response.status).to.equal(302);
    expect(await response.text()).to.equal('');
    expect(calls).to.equal(1);
  });

  it('aborts a document that is too large', async () => {
    serve({
      client_id: url(),
      redirect_uris: ['https://app.example/cb'],
      filler: 'x'.repeat(70_000),
    });
    expect(await errorOf(fetchIt(url()))).to.include('larger than');
  });

  it('aborts when the caller aborts', async () => {
    const leaving = new AbortController();
    answer = () => leaving.abort();
    expect(await errorOf(fetchIt(url(), { signal: leaving.signal }))).to.match(/abort/i);
  });

  it('rejects an invalid document, and any authentication method except none', async () => {
    const good = { client_id: url(), redirect_uris: ['https://app.example/cb'] };
    for (const bad of [
      [],
      'x',
      {},
      { ...good, redirect_uris: ['http://app.example/cb'] },
      { ...good, token_endpoint_auth_method: 'client_secret_post' },
    ]) {
      serve(bad);
      expect(await errorOf(fetchIt(url())), JSON.stringify(bad)).not.to.equal('fetched');
    }
    answer = (_request, response) => response.end('not json');
    expect(await errorOf(fetchIt(url()))).not.to.equal('fetched');
  });

  it('rejects an untrusted certificate', async () => {
    serve({ client_id: url(), redirect_uris: ['https://app.example/cb'] });
    expect(
      await errorOf(
        createClientFetch({ nameServers: [names.address], isGood: () => true, port })(url()),
      ),
    ).to.match(/certificate/);
    expect(calls).to.equal(0);
  });
});
