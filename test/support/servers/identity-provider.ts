// A real OpenID Connect provider on loopback. Tests submit its login page with plain HTTP requests,
// with a cookie jar for each user.
import { createSign, generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { Provider } from 'oidc-provider';
import MemoryAdapter from 'oidc-provider/lib/adapters/memory_adapter.js';

export interface ProviderLogin {
  subject: string;
  /** Further claims about the user. `undefined` omits a claim. */
  claims: Record<string, unknown>;
}

export interface TestProvider {
  issuer: string;
  clientId: string;
  clientSecret: string;
  /** The environment of an installation that uses this provider. */
  env: Record<string, string>;
  /**
   * Signs in on the login page like a browser without cookies. Returns the final redirect URL
   * without requesting it.
   */
  signIn(authorization: string, login: ProviderLogin): Promise<URL>;
  /** Adds a user who can sign in with the subject as the login. */
  addLogin(login: ProviderLogin): void;
  /** Cancels on the login page. Returns the final redirect URL. */
  deny(authorization: string): Promise<URL>;
  /** Changes the claims of later ID tokens. */
  tamper(change: ((claims: Record<string, unknown>) => Record<string, unknown>) | undefined): void;
  /** Signs ID tokens with a foreign key under the ID of the provider's key. */
  forge(on: boolean): void;
  /** Replaces the signing key. */
  rotateKeys(): void;
  /** Replaces the provider with a handler for every request. */
  replace(answer: ((request: IncomingMessage, response: ServerResponse) => void) | undefined): void;
  /** The requested paths, in order. */
  calls: string[];
  stop(): Promise<void>;
}

interface Options {
  callback: string;
  /** Whether the ID token contains the claims. Otherwise only the userinfo endpoint does. */
  claimsInIdToken?: boolean;
  clientAuth?: 'client_secret_basic' | 'client_secret_post';
}

/** A subclass, because the provider warns about its own in-memory adapter. */
class Memory extends MemoryAdapter {}

interface SigningKey {
  kid: string;
  key: KeyObject;
}

function newKey(): SigningKey {
  return { kid: randomUUID(), key: generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey };
}

const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

function signed(claims: Record<string, unknown>, { kid, key }: SigningKey): string {
  const content = `${part({ alg: 'RS256', kid })}.${part(claims)}`;
  return `${content}.${createSign('sha256').update(content).sign(key, 'base64url')}`;
}

const claimsOf = (jwt: string) =>
  JSON.parse(Buffer.from(jwt.split('.')[1]!, 'base64url').toString()) as Record<string, unknown>;

export async function testProvider({
  callback,
  claimsInIdToken = true,
  clientAuth = 'client_secret_basic',
}: Options): Promise<TestProvider> {
  const clientId = 'pressroom';
  const clientSecret = `a secret/of+the tests:${randomUUID()}`;
  const logins = new Map<string, ProviderLogin>();
  const calls: string[] = [];
  let change: Parameters<TestProvider['tamper']>[0];
  let replaced: Parameters<TestProvider['replace']>[0];
  let key: SigningKey;
  let forging = false;
  let provider: Provider;
  let answer: ReturnType<Provider['callback']>;

  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url!, 'http://localhost');
    calls.push(pathname);
    if (replaced) return replaced(request, response);
    if (!pathname.startsWith('/login/')) return answer(request, response);
    if (request.method !== 'POST')
      return response
        .writeHead(200, { 'content-type': 'text/html' })
        .end(
          '<!doctype html><form method="post"><input name="login" aria-label="Login"><button>Go on</button></form>',
        );
    const accountId = new URLSearchParams(await text(request)).get('login');
    const result = accountId
      ? { login: { accountId } }
      : { error: 'access_denied', error_description: 'canceled by the user' };
    await provider.interactionFinished(request, response, result);
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  // Another site than the installation, because browsers treat cross-site cookies differently.
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  function begin(): void {
    key = newKey();
    provider = new Provider(issuer, {
      adapter: Memory,
      clients: [
        {
          client_id: clientId,
          client_secret: clientSecret,
          redirect_uris: [callback],
          token_endpoint_auth_method: clientAuth,
        },
      ],
      clientAuthMethods: [clientAuth],
      jwks: {
        keys: [{ ...key.key.export({ format: 'jwk' }), kid: key.kid, alg: 'RS256', use: 'sig' }],
      },
      cookies: { keys: ['a key of the tests'] },
      scopes: ['openid', 'email', 'profile'],
      claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
      conformIdTokenClaims: !claimsInIdToken,
      pkce: { required: () => true },
      features: { devInteractions: { enabled: false } },
      interactions: { url: (_ctx: unknown, { uid }: { uid: string }) => `/login/${uid}` },
      findAccount: (_ctx: unknown, id: string) => ({
        accountId: id,
        claims: async () => ({ ...logins.get(id)?.claims, sub: id }),
      }),
      // Grants every scope without a consent page.
      loadExistingGrant: async ({
        oidc,
      }: {
        oidc: { client: { clientId: string }; session: { accountId: string } };
      }) => {
        const grant = new provider.Grant({
          clientId: oidc.client.clientId,
          accountId: oidc.session.accountId,
        });
        grant.addOIDCScope('openid email profile');
        await grant.save();
        return grant;
      },
      ttl: {
        AccessToken: 60,
        AuthorizationCode: 60,
        Grant: 60,
        IdToken: 60,
        Interaction: 60,
        Session: 60,
      },
    });
    provider.use(async (ctx, next) => {
      await next();
      const answered = ctx.body as { id_token?: string } | undefined;
      if (!answered?.id_token || ctx.path !== '/token') return;
      const claims = claimsOf(answered.id_token);
      if (change) answered.id_token = signed(change(claims), key);
      if (forging) answered.id_token = signed(claims, { ...newKey(), kid: key.kid });
    });
    answer = provider.callback();
  }
  begin();

  /** Follows redirects within the provider and submits `login` on its login page. */
  async function visit(authorization: string, login: string): Promise<URL> {
    const jar = new Map<string, string>();
    const go = async (url: URL, body?: URLSearchParams) => {
      const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
      const got = await fetch(url, {
        redirect: 'manual',
        headers: { cookie },
        ...(body && { method: 'POST', body }),
      });
      for (const set of got.headers.getSetCookie()) {
        const [, name, value] = /^([^=]+)=([^;]*)/.exec(set)!;
        jar.set(name!, value!);
      }
      const page = await got.text();
      return { status: got.status, location: got.headers.get('location'), page };
    };
    let url = new URL(authorization);
    for (let step = 0; step < 10; step += 1) {
      if (url.origin !== issuer) return url;
      let { status, location, page } = await go(url);
      if (location === null && url.pathname.startsWith('/login/'))
        ({ status, location, page } = await go(url, new URLSearchParams({ login })));
      if (location === null)
        throw new Error(`the provider responded ${status}: ${page.slice(0, 500)}`);
      url = new URL(location, issuer);
    }
    throw new Error('the provider redirects without end');
  }

  return {
    issuer,
    clientId,
    clientSecret,
    env: {
      PRESSROOM_OIDC_ISSUER: issuer,
      PRESSROOM_OIDC_CLIENT_ID: clientId,
      PRESSROOM_OIDC_CLIENT_SECRET: clientSecret,
      PRESSROOM_OIDC_DOMAINS: 'example.com',
    },
    addLogin: login => {
      logins.set(login.subject, login);
    },
    signIn: (authorization, login) => {
      logins.set(login.subject, login);
      return visit(authorization, login.subject);
    },
    deny: authorization => visit(authorization, ''),
    tamper: next => {
      change = next;
    },
    forge: on => {
      forging = on;
    },
    rotateKeys: begin,
    replace: next => {
      replaced = next;
    },
    calls,
    stop: async () => {
      server.closeAllConnections();
      await new Promise(resolve => server.close(resolve));
    },
  };
}
