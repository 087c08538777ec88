// Speaks OpenID Connect with the company's provider: the authorization code flow with PKCE, state
// and nonce. Owns discovery and every limit of it; who may sign in is for others to decide.
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

/** The longest that one call to the provider may take; a sign-in makes four at most. */
const CALL_TIMEOUT_MS = 5_000;
/**
 * Sign-ins that wait for the provider at the same time: it hears from us no more than that, however
 * often somebody sends the same callback.
 */
const MAX_AT_ONCE = 32;
/** Of any answer of the provider. */
const MAX_ANSWER_BYTES = 2 ** 20;
/** Discovery documents change when a provider is moved or renamed. */
export const METADATA_KEPT_MS = 3600e3;
/**
 * After a failed discovery, so that a provider which is down does not make everybody wait for its
 * time limit.
 */
export const PAUSE_MS = 5_000;

/** What must be remembered between leaving for the provider and coming back. */
export interface Begun {
  state: string;
  nonce: string;
  verifier: string;
}

/** Who came back, in the provider's words. */
export interface IdentityClaims {
  issuer: string;
  subject: string;
  email: string | undefined;
  /** True only when the provider said `true`. */
  emailVerified: boolean;
  name: string | undefined;
}

export interface IdentityProvider {
  /** Where the browser goes. Rejects with SsoError. */
  begin(): Promise<{ url: URL; begun: Begun }>;
  /** Checks what came back, and who it is. Rejects with SsoError. */
  finish(query: URLSearchParams, begun: Begun): Promise<IdentityClaims>;
}

const tooMuch = () =>
  new SsoError(502, 'The company’s sign-in answers with too much.', {
    problem: `an answer of more than ${MAX_ANSWER_BYTES} bytes`,
  });

/** Node's fetch, but for an answer without an end. */
const boundedFetch: CustomFetch = async (url, options) => {
  const answer = await fetch(url, options as RequestInit);
  if (!answer.body) return answer;
  let bytes = 0;
  const bound = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      bytes += chunk.byteLength;
      if (bytes > MAX_ANSWER_BYTES) controller.error(tooMuch());
      else controller.enqueue(chunk);
    },
  });
  return new Response(answer.body.pipeThrough(bound), answer);
};

function clientAuth({ clientAuth, clientSecret }: SsoConfig, server: ServerMetadata) {
  const taken = server.token_endpoint_auth_methods_supported;
  // Absent means `client_secret_basic` (OpenID Connect Discovery, section 3).
  const basic =
    clientAuth === 'basic' ||
    (clientAuth === 'auto' && (!taken || taken.includes('client_secret_basic')));
  return basic ? ClientSecretBasic(clientSecret) : ClientSecretPost(clientSecret);
}

interface Deps {
  config: SsoConfig;
  /** Without a slash at its end. */
  publicUrl: string;
  log: Log;
  /** Milliseconds. */
  now?: () => number;
  callTimeoutMs?: number;
}

const insecureOptions = ({ issuer }: SsoConfig) =>
  issuer.protocol === 'http:' ? [allowInsecureRequests] : [];

/**
 * The discovery document, cached for an hour. After a failure it is read again at the earliest in
 * PAUSE_MS; an old one stays in use.
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
      // The library lets some providers answer for all their customers at once: then anybody's
      // administrator could vouch for our addresses.
      if (!URL.canParse(server.issuer) || new URL(server.issuer).href !== config.issuer.href)
        throw new SsoError(502, 'The company’s sign-in is not set up for one company.', {
          problem: 'the provider is another issuer than the configured one',
          fix: 'PRESSROOM_OIDC_ISSUER must be the issuer of your own company at the provider',
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
      // It still signs people in perhaps; if not, the next call says why.
      log.warn(
        (error as SsoError).details ?? {},
        'the discovery document of the company’s sign-in could not be read again; the old one is used',
      );
      return metadata.server;
    }
  }

  return server;
}

/** Nothing is asked of the provider before somebody signs in. */
export function createIdentityProvider({
  config,
  publicUrl,
  log,
  now = () => performance.now(),
  callTimeoutMs = CALL_TIMEOUT_MS,
}: Deps): IdentityProvider {
  const redirectUri = new URL(`${publicUrl}/app/sign-in/company/callback`).href;
  let running = 0;

  const metadata = createProviderMetadata({ config, log, now, callTimeoutMs });

  /**
   * One for each sign-in: it keeps the provider's keys, and so a key that was changed a moment ago
   * is found.
   */
  async function configuration(): Promise<Configuration> {
    const found = await metadata();
    const made = new Configuration(
      found,
      config.clientId,
      config.clientSecret,
      clientAuth(config, found),
    );
    made.timeout = callTimeoutMs / 1_000;
    made[customFetch] = boundedFetch;
    for (const apply of [...insecureOptions(config), enableNonRepudiationChecks]) apply(made);
    return made;
  }

  async function claimsOf(
    current: URL,
    { state, nonce, verifier }: Begun,
  ): Promise<IdentityClaims> {
    const made = await configuration();
    const tokens = await authorizationCodeGrant(made, current, {
      expectedState: state,
      expectedNonce: nonce,
      pkceCodeVerifier: verifier,
      idTokenExpected: true,
    });
    const idToken = tokens.claims()!;
    const complete =
      typeof idToken['email'] === 'string' && idToken['email_verified'] !== undefined;
    const userInfo =
      !complete && made.serverMetadata().userinfo_endpoint
        ? await fetchUserInfo(made, tokens.access_token, idToken.sub)
        : undefined;
    // An address and whether it is verified go together: both from the same answer.
    const said = userInfo?.email === undefined ? idToken : userInfo;
    const name = idToken['name'] ?? userInfo?.name;
    return {
      issuer: idToken.iss,
      subject: idToken.sub,
      email: typeof said['email'] === 'string' ? said['email'] : undefined,
      emailVerified: said['email_verified'] === true,
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

  /** Of all that goes wrong, and never of more at once than the provider should bear. */
  async function asProblem<T>(work: () => Promise<T>, secrets: readonly string[]): Promise<T> {
    if (running >= MAX_AT_ONCE)
      throw new SsoError(
        503,
        'Too many people sign in through the company at this moment. Try again in a few seconds.',
      );
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
    async begin() {
      const begun = {
        state: randomState(),
        nonce: randomNonce(),
        verifier: randomPKCECodeVerifier(),
      };
      return { url: await asProblem(() => begin(begun), []), begun };
    },
    async finish(query, begun) {
      if (query.get('state') !== begun.state) throw beginAgain();
      const current = new URL(redirectUri);
      current.search = query.toString();
      return asProblem(() => claimsOf(current, begun), [begun.verifier, query.get('code') ?? '']);
    },
  };
}
