// The settings of oidc-provider, which speaks OAuth for us: authorization codes with PKCE for one
// resource and one scope, and nothing else that it could do.
import type { Provider, ProviderContext } from 'oidc-provider';
import { consentPath, OAUTH_PATHS } from '../kit/oauth-paths.ts';
import { OUTAGE } from '../kit/outage.ts';
import { SCOPE } from './access.ts';
import type { Adapter } from './adapter.ts';
import type { ClientFetch } from './client-fetch.ts';
import { CLIENT_AUTH_METHODS } from './client-metadata.ts';
import type { OAuthKeys } from './keys.ts';
import { isDue, type RefreshTokens } from './refresh-tokens.ts';
import { keepRefused, type OAuthErrorFields, onward } from './refused-requests.ts';
import { reportUnreadable } from './unreadable-documents.ts';

export const COOKIES = {
  session: 'pressroom-oauth-session',
  interaction: 'pressroom-oauth-consent',
  resume: 'pressroom-oauth-resume',
} as const;

const ACCESS_S = 3600;
const CODE_S = 60;
/** Without a refresh for so long the app must ask again. */
const REFRESH_S = 30 * 86_400;
/** However often it refreshes. */
const GRANT_S = 365 * 86_400;
/** Signing in with a second factor at the company takes its time. */
const INTERACTION_S = 3600;

export interface ProviderDeps {
  issuer: string;
  resource: string;
  keys: OAuthKeys;
  adapter: (kind: string) => Adapter;
  refreshTokens: RefreshTokens;
  /** By registering, and by a document of their own. */
  clients: { registration: boolean; document: boolean };
  /** The way to the documents in which apps describe themselves. */
  fetch: ClientFetch;
  mayFetchDocument(ctx: ProviderContext | undefined): Promise<boolean>;
  /**
   * Whether tokens are given for this person: by the consent that they come of, where there is one.
   */
  mayHaveTokens(user: string, grantId: string | undefined): Promise<boolean>;
  /** `back`: leads the person on to the app with it. */
  renderError(ctx: ProviderContext, refusal: OAuthErrorFields, back: string | undefined): void;
}

/**
 * What the documents of RFC 8414 say that is true here: the library speaks of OpenID Connect
 * besides.
 */
const METADATA: ReadonlySet<string> = new Set([
  'issuer',
  'authorization_endpoint',
  'token_endpoint',
  'registration_endpoint',
  'revocation_endpoint',
  'jwks_uri',
  'response_types_supported',
  'response_modes_supported',
  'grant_types_supported',
  'token_endpoint_auth_methods_supported',
  'code_challenge_methods_supported',
  'authorization_response_iss_parameter_supported',
  'client_id_metadata_document_supported',
]);

function trimmed(body: Record<string, unknown>): Record<string, unknown> {
  const kept = Object.fromEntries(Object.entries(body).filter(([name]) => METADATA.has(name)));
  return {
    ...kept,
    scopes_supported: [SCOPE],
    revocation_endpoint_auth_methods_supported: [...CLIENT_AUTH_METHODS],
  };
}

const featuresOf = (
  library: typeof import('oidc-provider'),
  { clients, mayFetchDocument, resource }: ProviderDeps,
) => ({
  devInteractions: { enabled: false },
  rpInitiatedLogout: { enabled: false },
  userinfo: { enabled: false },
  claimsParameter: { enabled: false },
  dPoP: { enabled: false },
  pushedAuthorizationRequests: { enabled: false },
  revocation: {
    enabled: true,
    // A client revokes its own; of others' it learns nothing.
    allowedPolicy: async (
      _ctx: ProviderContext,
      client: { clientId: string },
      token: { clientId: string },
    ) => client.clientId === token.clientId,
  },
  registration: { enabled: clients.registration, issueRegistrationAccessToken: false },
  clientIdMetadataDocument: {
    enabled: clients.document,
    ack: 'draft-02',
    allowFetch: mayFetchDocument,
    cacheDuration: { min: 600, max: 86_400 },
  },
  resourceIndicators: {
    enabled: true,
    defaultResource: async () => resource,
    useGrantedResource: async () => true,
    getResourceServerInfo: async (_ctx: ProviderContext, asked: string) => {
      if (asked !== resource)
        throw new library.errors.InvalidTarget(`the only resource here is ${resource}`);
      return {
        scope: SCOPE,
        audience: resource,
        accessTokenTTL: ACCESS_S,
        accessTokenFormat: 'opaque',
      };
    },
  },
});

export function createProvider(
  library: typeof import('oidc-provider'),
  deps: ProviderDeps,
): Provider {
  const { issuer, keys } = deps;
  const { Check, Prompt, base } = library.interactionPolicy;
  const policy = base();
  policy.clear();
  // Every time: what is shown is which app asks now, and nobody is signed in with the provider
  // itself.
  const asked = new Check(
    'asked',
    'the person is asked each time',
    'consent_required',
    ctx => !ctx.oidc.result?.consent?.grantId,
  );
  policy.add(
    new Prompt(
      { name: 'consent', requestable: true },
      ctx => ({ name: ctx.oidc.client?.clientName ?? '' }),
      asked,
    ),
  );

  const provider = new library.Provider(issuer, {
    adapter: deps.adapter,
    jwks: { keys: keys.jwks },
    cookies: { keys: keys.cookies, names: COOKIES },
    routes: OAUTH_PATHS,
    scopes: [SCOPE],
    responseTypes: ['code'],
    pkce: { required: () => true },
    clientAuthMethods: [...CLIENT_AUTH_METHODS],
    clientDefaults: { application_type: 'native', id_token_signed_response_alg: 'ES256' },
    // A token is the secret, not where it is sent from.
    clientBasedCORS: () => true,
    clockTolerance: 0,
    enableHttpPostMethods: false,
    expiresWithSession: async () => false,
    issueRefreshToken: async () => true,
    rotateRefreshToken: ({ oidc }: ProviderContext) =>
      isDue(oidc.entities.RefreshToken!, Date.now()),
    revokeGrantPolicy: () => true,
    fetch: deps.fetch,
    interactions: {
      policy,
      url: (_ctx: ProviderContext, { uid }: { uid: string }) => consentPath(uid),
    },
    loadExistingGrant: async ({ oidc }: ProviderContext) => {
      const grantId = oidc.result?.consent?.grantId;
      return grantId === undefined ? undefined : oidc.provider.Grant.find(grantId);
    },
    findAccount: async (_ctx: ProviderContext, id: string, token?: { grantId?: string }) =>
      (await deps.mayHaveTokens(id, token?.grantId))
        ? { accountId: id, claims: async () => ({ sub: id }) }
        : undefined,
    renderError: (ctx: ProviderContext, refusal: OAuthErrorFields) =>
      deps.renderError(ctx, refusal, onward(ctx, refusal)),
    ttl: {
      AccessToken: ACCESS_S,
      AuthorizationCode: CODE_S,
      RefreshToken: REFRESH_S,
      Grant: GRANT_S,
      Interaction: INTERACTION_S,
      Session: CODE_S,
      IdToken: CODE_S,
    },
    features: featuresOf(library, deps),
  });
  // An answer that got lost is given again with the same token (refresh-tokens.ts).
  provider.RefreshToken.prototype.generateTokenId = function () {
    return deps.refreshTokens.idOf(this.grantId, this.rotations);
  };
  provider.on('authorization.error', keepRefused);
  reportUnreadable(provider);
  // Its host and protocol are written into each request, from the public URL.
  provider.proxy = true;
  provider.use(async (ctx, next) => {
    await next();
    if (ctx.status === 503) {
      ctx.res.setHeader('retry-after', String(OUTAGE.retryAfterS));
      ctx.res.setHeader('cache-control', 'no-store');
    }
    if (ctx._matchedRouteName === 'discovery')
      ctx.body = trimmed(ctx.body as Record<string, unknown>);
    // Who is signed in is the dashboard's to say: the provider remembers nobody.
    const kept = [ctx.res.getHeader('set-cookie') ?? []]
      .flat()
      .filter(cookie => !String(cookie).startsWith(COOKIES.session));
    if (kept.length > 0) ctx.res.setHeader('set-cookie', kept.map(String));
    else ctx.res.removeHeader('set-cookie');
  });
  return provider;
}
