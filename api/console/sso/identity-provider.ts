// OpenID Connect client of the identity provider: the authorization code flow with PKCE, state and
// nonce. Owns discovery and its limits. Who may sign in is decided in sso-users.ts.
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  ClientSecretBasic,
  ClientSecretPost,
  Configuration,
  type CustomFetch,
  calculatePKCECodeChallenge,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
  type ServerMetadata,
} from 'openid-client';
import type { Log } from '../../../common/log.ts';
import { toSsoError } from './provider-errors.ts';
import type { SsoConfig } from './sso-config.ts';
import { beginAgain, SsoError } from './sso-error.ts';

/** Time limit of one call to the provider; a sign-in makes at most four. */
const CALL_TIMEOUT_MS = 5_000;
/** Sign-ins that call the provider at the same time, however often a callback is repeated. */
const MAX_AT_ONCE = 32;
/** Of any response of the provider. */
const MAX_ANSWER_BYTES = 2 ** 20;
/** A discovery document changes when the provider is moved or renamed. */
export const METADATA_KEPT_MS = 3600e3;
/** After a failed discovery, so that not every sign-in waits for the time limit. */
export const PAUSE_MS = 5_000;

/** Kept between the redirect to the provider and its callback. */
export interface Begun {
  state: string;
  nonce: string;
  verifier: string;
}

/** The claims of the user, as the provider sent them. */
export interface IdentityClaims {
  issuer: string;
  subject: string;
  email: string | undefined;
  /** True only when the provider sent `true`. */
  emailVerified: boolean;
  name: string | undefined;
}

export type IdentityProvider = ReturnType<typeof createIdentityProvider>;

const tooLarge = () =>
  new SsoError(
    502,
    'The response of your identity provider is too large. Contact your administrator.',
    {
      problem: `the response has more than ${MAX_ANSWER_BYTES} bytes`,
    },
  );

/** Node's fetch with a limit on the size of the response. */
const boundedFetch: CustomFetch = async (url, options) => {
  const response = await fetch(url, options as RequestInit);
  if (!response.body) return response;
  let bytes = 0;
  const bound = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      bytes += chunk.byteLength;
      if (bytes > MAX_ANSWER_BYTES) controller.error(tooLarge());
      else controller.enqueue(chunk);
    },
  });
  return new Response(response.body.pipeThrough(bound), response);
};

function clientAuth({ clientAuth, clientSecret }: SsoConfig, server: ServerMetadata) {
  const supported = server.token_endpoint_auth_methods_supported;
  // Absent means `client_secret_basic` (OpenID Connect Discovery, section 3).
  const basic =
    clientAuth === 'basic' ||
    (clientAuth === 'auto' && (!supported || supported.includes('client_secret_basic')));
  return basic ? ClientSecretBasic(clientSecret) : ClientSecretPost(clientSecret);
}

interface Deps {
  config: SsoConfig;
  /** Without a trailing slash. */
  publicUrl: string;
  log: Log;
  /** Milliseconds. */
  now?: () => number;
  callTimeoutMs?: number;
}

const insecureOptions = ({ issuer }: SsoConfig) =>
  issuer.protocol === 'http:' ? [allowInsecureRequests] : [];

/**
 * The discovery document, cached for an hour. After a failure it is read again after PAUSE_MS, and
 * the old one stays in use.
 */
function createProviderMetadata({
  config,
  log,
  now,
  callTimeoutMs,
}: Required<Omit<Deps, 'publicUrl'>>): () => Promise<ServerMetadata> {
  let metadata: { server: ServerMetadata; readAtMs: number } | undefined;
  let reading: Promise<ServerMetadata> | undefined;
  let failed: { problem: SsoError; atMs: number } | undefined;

  async function read(): Promise<ServerMetadata> {
    try {
      const found = await discovery(config.issuer, config.clientId, undefined, undefined, {
        timeout: callTimeoutMs / 1_000,
        execute: insecureOptions(config),
        [customFetch]: boundedFetch,
      });
      const server = { ...found.serverMetadata() };
      // The library accepts the shared issuer of a multi-tenant provider. With it the administrator
      // of any tenant could vouch for our addresses.
      if (!URL.canParse(server.issuer) || new URL(server.issuer).href !== config.issuer.href)
        throw new SsoError(502, 'SSO is misconfigured. Contact your administrator.', {
          problem: 'the issuer of the provider differs from PRESSROOM_OIDC_ISSUER',
          fix: 'set PRESSROOM_OIDC_ISSUER to the issuer of your own tenant at the provider',
        });
      failed = undefined;
      metadata = { server, readAtMs: now() };
      return server;
    } catch (error) {
      const problem = toSsoError(error, [config.clientSecret]);
      failed = { problem, atMs: now() };
      throw problem;
    } finally {
      reading = undefined;
    }
  }

  async function server(): Promise<ServerMetadata> {
    if (metadata && now() - metadata.readAtMs < METADATA_KEPT_MS) return metadata.server;
    if (failed && now() - failed.atMs < PAUSE_MS) {
      if (metadata) return metadata.server;
      throw failed.problem;
    }
    reading ??= read();
    try {
      return await reading;
    } catch (error) {
      if (!metadata) throw error;
      // The old document may still work; if not, the next call fails with the reason.
      log.warn(
        (error as SsoError).details ?? {},
        'could not refresh the discovery document of the identity provider; using the cached one',
      );
      return metadata.server;
    }
  }

  return server;
}

/** Makes no call to the provider before the first sign-in. */
export function createIdentityProvider({
  config,
  publicUrl,
  log,
  now = () => performance.now(),
  callTimeoutMs = CALL_TIMEOUT_MS,
}: Deps) {
  const redirectUri = new URL(`${publicUrl}/app/sign-in/company/callback`).href;
  let running = 0;

  const metadata = createProviderMetadata({ config, log, now, callTimeoutMs });

  /** New for each sign-in: it caches the provider's keys, which may have been rotated. */
  async function configuration(): Promise<Configuration> {
    const found = await metadata();
    const client = new Configuration(
      found,
      config.clientId,
      config.clientSecret,
      clientAuth(config, found),
    );
    client.timeout = callTimeoutMs / 1_000;
    client[customFetch] = boundedFetch;
    for (const apply of [...insecureOptions(config), enableNonRepudiationChecks]) apply(client);
    return client;
  }

  async function claimsOf(
    current: URL,
    { state, nonce, verifier }: Begun,
  ): Promise<IdentityClaims> {
    const client = await configuration();
    const tokens = await authorizationCodeGrant(client, current, {
      expectedState: state,
      expectedNonce: nonce,
      pkceCodeVerifier: verifier,
      idTokenExpected: true,
    });
    const idToken = tokens.claims()!;
    const complete =
      typeof idToken['email'] === 'string' && idToken['email_verified'] !== undefined;
    const userInfo =
      !complete && client.serverMetadata().userinfo_endpoint
        ? await fetchUserInfo(client, tokens.access_token, idToken.sub)
        : undefined;
    // The address and `email_verified` belong together: both come from the same response.
    const source = userInfo?.email === undefined ? idToken : userInfo;
    const name = idToken['name'] ?? userInfo?.name;
    return {
      issuer: idToken.iss,
      subject: idToken.sub,
      email: typeof source['email'] === 'string' ? source['email'] : undefined,
      emailVerified: source['email_verified'] === true,
      name: typeof name === 'string' ? name : undefined,
    };
  }

  async function begin(begun: Begun): Promise<URL> {
    return buildAuthorizationUrl(await configuration(), {
      redirect_uri: redirectUri,
      scope: 'openid email profile',
      code_challenge: await calculatePKCECodeChallenge(begun.verifier),
      code_challenge_method: 'S256',
      state: begun.state,
      nonce: begun.nonce,
    });
  }

  /** Limits concurrent sign-ins, and converts every error into an SsoError. */
  async function bounded<T>(work: () => Promise<T>, secrets: readonly string[]): Promise<T> {
    if (running >= MAX_AT_ONCE)
      throw new SsoError(503, 'Too many sign-ins at the same time. Try again in a few seconds.');
    running += 1;
    try {
      return await work();
    } catch (error) {
      throw toSsoError(error, [config.clientSecret, ...secrets]);
    } finally {
      running -= 1;
    }
  }

  return {
    /** Returns the URL for the browser. Rejects with SsoError. */
    async begin() {
      const begun: Begun = {
        state: randomState(),
        nonce: randomNonce(),
        verifier: randomPKCECodeVerifier(),
      };
      return { url: await bounded(() => begin(begun), []), begun };
    },
    /** Checks the callback and returns the claims. Rejects with SsoError. */
    async finish(query: URLSearchParams, begun: Begun) {
      if (query.get('state') !== begun.state) throw beginAgain();
      const current = new URL(redirectUri);
      current.search = query.toString();
      return bounded(() => claimsOf(current, begun), [begun.verifier, query.get('code') ?? '']);
    },
  };
}
