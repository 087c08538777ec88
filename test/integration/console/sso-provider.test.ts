import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import {
  createIdentityProvider,
  METADATA_KEPT_MS,
  PAUSE_MS,
} from '../../../api/console/sso/identity-provider.ts';
import { readSsoConfig } from '../../../api/console/sso/sso-config.ts';
import type { SsoError } from '../../../api/console/sso/sso-error.ts';
import { silentLog } from '../../../common/log.ts';
import { newLogin } from '../../support/console/sso-fixture.ts';
import { type TestProvider, testProvider } from '../../support/servers/identity-provider.ts';

const PUBLIC_URL = 'http://localhost:8080';
const CALLBACK = `${PUBLIC_URL}/app/sign-in/company/callback`;

describe('the identity provider', () => {
  let provider: TestProvider;
  const started: TestProvider[] = [];
  beforeEach(async () => {
    provider = await begun();
  });
  afterEach(() => Promise.all(started.splice(0).map(each => each.stop())));

  async function begun(options: Partial<Parameters<typeof testProvider>[0]> = {}) {
    const made = await testProvider({ callback: CALLBACK, ...options });
    started.push(made);
    return made;
  }

  function client(
    env: Record<string, unknown> = {},
    more: { now?: () => number; callTimeoutMs?: number } = {},
    of = provider,
  ) {
    const config = readSsoConfig({
      PRESSROOM_OIDC_ISSUER: new URL(of.issuer),
      PRESSROOM_OIDC_CLIENT_ID: of.clientId,
      PRESSROOM_OIDC_CLIENT_SECRET: of.clientSecret,
      PRESSROOM_OIDC_CLIENT_AUTH: 'auto',
      PRESSROOM_OIDC_DOMAINS: ['example.com'],
      ...env,
    } as Parameters<typeof readSsoConfig>[0])!;
    return createIdentityProvider({ config, publicUrl: PUBLIC_URL, log: silentLog, ...more });
  }

  const problemOf = (work: Promise<unknown>): Promise<SsoError> =>
    work.then(
      () => {
        throw new Error('it did not fail');
      },
      error => error,
    );

  async function claims(of: ReturnType<typeof client>, login = newLogin(), at = provider) {
    const { url, begun } = await of.begin();
    return of.finish((await at.signIn(url.href, login)).searchParams, begun);
  }

  const discoveries = () =>
    provider.calls.filter(path => path === '/.well-known/openid-configuration').length;

  it('is called only after the first sign-in, and for discovery once an hour', async () => {
    let nowMs = 0;
    const made = client({}, { now: () => nowMs });
    expect(provider.calls).to.deep.equal([]);
    await Promise.all([made.begin(), made.begin()]);
    await made.begin();
    expect(discoveries()).to.equal(1);
    nowMs = METADATA_KEPT_MS;
    await made.begin();
    expect(discoveries()).to.equal(2);
  });

  for (const clientAuth of ['client_secret_basic', 'client_secret_post'] as const)
    it(`receives the secret by ${clientAuth} when it supports only that`, async () => {
      const other = await begun({ clientAuth });
      expect((await claims(client({}, {}, other), newLogin(), other)).emailVerified).to.equal(true);
    });

  it('receives the secret by the configured method', async () => {
    const problem = await problemOf(claims(client({ PRESSROOM_OIDC_CLIENT_AUTH: 'post' })));
    expect(problem.details!['fix']).to.include('_CLIENT_AUTH');
  });

  it('is queried for the address when the ID token lacks it', async () => {
    const other = await begun({ claimsInIdToken: false });
    const ada = newLogin();
    expect(await claims(client({}, {}, other), ada, other)).to.deep.equal({
      issuer: other.issuer,
      subject: ada.subject,
      email: ada.email,
      emailVerified: true,
      name: 'Ada Lovelace',
    });
  });

  it('provides address and verification in the same response', async () => {
    const ada = newLogin();
    provider.tamper(({ email_verified: _, ...rest }) => ({
      ...rest,
      email: 'somebody.else@example.com',
    }));
    expect(await claims(client(), ada)).to.include({ email: ada.email, emailVerified: true });
  });

  it('is not called for a moment after a failure, and called again afterwards', async () => {
    let nowMs = 0;
    const made = client({}, { now: () => nowMs });
    provider.replace((_request, response) => response.writeHead(500).end());
    expect((await problemOf(made.begin())).status).to.equal(503);
    provider.replace(undefined);
    nowMs = PAUSE_MS - 1;
    expect((await problemOf(made.begin())).status).to.equal(503);
    expect(discoveries()).to.equal(1);
    nowMs = PAUSE_MS;
    expect((await made.begin()).url.origin).to.equal(provider.issuer);
  });

  it('is used with the cached discovery document when a refresh fails', async () => {
    let nowMs = 0;
    const made = client({}, { now: () => nowMs });
    await made.begin();
    provider.replace((_request, response) => response.writeHead(500).end());
    nowMs = METADATA_KEPT_MS;
    expect((await made.begin()).url.origin).to.equal(provider.issuer);
  });

  it('is aborted when its response is missing or incomplete', async () => {
    const held: ServerResponse[] = [];
    for (const answer of [
      () => {},
      (response: ServerResponse) =>
        response.writeHead(200, { 'content-type': 'application/json' }).write('{'),
    ]) {
      provider.replace((_request, response) => {
        held.push(response);
        answer(response);
      });
      expect((await problemOf(client({}, { callTimeoutMs: 50 }).begin())).status).to.equal(503);
    }
    for (const response of held) response.destroy();
  });

  it('is aborted when its response is endless', async () => {
    const piece = Buffer.alloc(64 * 1_024, ' ');
    let bytes = 0;
    provider.replace((_request, response) => {
      const more = () => {
        while (!response.destroyed && response.write(piece)) bytes += piece.length;
      };
      response.writeHead(200, { 'content-type': 'application/json' }).on('drain', more);
      more();
    });
    expect((await problemOf(client().begin())).status).to.equal(502);
    expect(bytes).to.be.lessThan(16 * 2 ** 20);
  });

  it('is named in the log when it is unreachable', async () => {
    const made = client();
    await provider.stop();
    started.length = 0;
    const { status, details } = await problemOf(made.begin());
    expect(status).to.equal(503);
    expect(details).to.include({ problem: 'the provider is unreachable', code: 'ECONNREFUSED' });
  });

  it('must match the configured issuer exactly', async () => {
    const { details } = await problemOf(
      client({ PRESSROOM_OIDC_ISSUER: new URL(`${provider.issuer}/tenant`) }).begin(),
    );
    expect(details!['fix']).to.include('PRESSROOM_OIDC_ISSUER');
    provider.replace((_request, response) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(
        JSON.stringify({
          issuer: 'https://login.example/{tenantid}/v2.0',
          authorization_endpoint: `${provider.issuer}/auth`,
        }),
      ),
    );
    expect((await problemOf(client().begin())).details!['fix']).to.include('PRESSROOM_OIDC_ISSUER');
  });

  it('must be a single tenant, even though the library accepts shared issuers', async () => {
    const everybodys = new URL('https://login.microsoftonline.com/common/v2.0');
    const issuer = 'https://login.microsoftonline.com/{tenantid}/v2.0';
    const { fetch } = globalThis;
    globalThis.fetch = async () =>
      Response.json({ issuer, authorization_endpoint: `${everybodys}/authorize` });
    try {
      const { details } = await problemOf(client({ PRESSROOM_OIDC_ISSUER: everybodys }).begin());
      expect(details!['fix']).to.equal(
        'set PRESSROOM_OIDC_ISSUER to the issuer of your own tenant at the provider',
      );
    } finally {
      globalThis.fetch = fetch;
    }
  });
});
