// A company's sign-in for the tests: a real OpenID Connect provider on loopback, whose login page
// is answered by plain HTTP calls, with a jar of cookies for each person.
import { createSign, generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { Provider } from 'oidc-provider';
import MemoryAdapter from 'oidc-provider/lib/adapters/memory_adapter.js';

export interface ProviderLogin {
  subject: string;
  /** What the provider says of the person besides; `undefined` is not said. */
  claims: Record<string, unknown>;
}

export interface TestProvider {
  issuer: string;
  clientId: string;
  clientSecret: string;
  /** The environment of an installation that signs in with it. */
  env: Record<string, string>;
  /**
   * Signs in on the provider's page as a browser without cookies does; where the browser is sent in
   * the end, which is not called.
   */
  signIn(authorization: string, login: ProviderLogin): Promise<URL>;
  /** Somebody who may sign in with the subject as the login. */
  addLogin(login: ProviderLogin): void;
  /** The person stops on the provider's page. */
  deny(authorization: string): Promise<URL>;
  /** Changes what the provider signs into its id tokens from now on. */
  tamper(change: ((claims: Record<string, unknown>) => Record<string, unknown>) | undefined): void;
  /**
   * Whether id tokens are signed by a key that is not the provider's, under the name of the one
   * that is.
   */
  forge(on: boolean): void;
  /** Signs with a new key from now on, and forgets the old one. */
  rotateKeys(): void;
  /** Puts something else in the place of the provider: what it answers to every call. */
  replace(answer: ((request: IncomingMessage, response: ServerResponse) => void) | undefined): void;
  /** Paths that were asked for, in order. */
  calls: string[];
  stop(): Promise<void>;
}

interface Options {
  callback: string;
  /** Whether the claims stand in the id token; else they are at the userinfo endpoint alone. */
  claimsInIdToken?: boolean;
  clientAuth?: 'client_secret_basic' | 'client_secret_post';
}

/** The provider warns of its own one. */
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
      : { error: 'access_denied', error_description: 'stopped by the person' };
    await provider.interactionFinished(request, response, result);
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  // Another site than the installation's, as in life: what browsers do with cookies depends on it.
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
      // Nobody is asked for consent.
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

  /** Follows redirects within the provider; `login` answers its page. */
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
        throw new Error(`the provider answered ${status}: ${page.slice(0, 500)}`);
      url = new URL(location, issuer);
    }
    throw new Error('the provider goes round in circles');
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
