// The configuration of oidc-provider: authorization codes with PKCE for one resource and one scope.
// All its other features are off.
import type { Provider, ProviderContext } from 'oidc-provider';
import { consentPath, OAUTH_PATHS } from '../kit/oauth-paths.ts';
import { OUTAGE } from '../kit/outage.ts';
import { SCOPE } from './access.ts';
import type { Adapter } from './adapter.ts';
import type { ClientFetch } from './client-fetch.ts';
import { CLIENT_AUTH_METHODS } from './client-metadata.ts';
import { errorRedirect, keepErrorsHere, type OAuthErrorFields } from './error-redirects.ts';
import type { OAuthKeys } from './keys.ts';
import { isDue, type RefreshTokens } from './refresh-tokens.ts';
import { reportUnreadable } from './unreadable-documents.ts';

type Library = typeof import('oidc-provider');

export const COOKIES = {
  session: 'pressroom-oauth-session',
  interaction: 'pressroom-oauth-consent',
  resume: 'pressroom-oauth-resume',
} as const;

const ACCESS_S = 3600;
const CODE_S = 60;
/** After this time without a refresh, the app must ask for consent again. */
const REFRESH_S = 30 * 86_400;
/** A consent ends after this time, however often the app refreshes. */
const GRANT_S = 365 * 86_400;
/** Long, since the login may include SSO with a second factor. */
const INTERACTION_S = 3600;

export interface ProviderDeps {
  issuer: string;
  resource: string;
  keys: OAuthKeys;
  adapter: (kind: string) => Adapter;
  refreshTokens: RefreshTokens;
  /** Which ways apps may identify themselves: by registration, by a metadata document. */
  clients: { registration: boolean; document: boolean };
  /** Fetches the metadata documents of apps. */
  fetch: ClientFetch;
  mayFetchDocument(ctx: ProviderContext | undefined): Promise<boolean>;
  /** Whether the user may have tokens, by their consent where there is one. */
  mayHaveTokens(user: string, grantId: string | undefined): Promise<boolean>;
  /** `back`: the app's redirect URI with the error. */
  renderError(ctx: ProviderContext, error: OAuthErrorFields, back: string | undefined): void;
}

/** The fields of RFC 8414 that apply here; the library adds those of OpenID Connect. */
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

function oauthMetadata(body: Record<string, unknown>): Record<string, unknown> {
  const kept = Object.fromEntries(Object.entries(body).filter(([name]) => METADATA.has(name)));
  return {
    ...kept,
    scopes_supported: [SCOPE],
    revocation_endpoint_auth_methods_supported: [...CLIENT_AUTH_METHODS],
  };
}

const featuresOf = (library: Library, { clients, mayFetchDocument, resource }: ProviderDeps) => ({
  devInteractions: { enabled: false },
  rpInitiatedLogout: { enabled: false },
  userinfo: { enabled: false },
  claimsParameter: { enabled: false },
  dPoP: { enabled: false },
  pushedAuthorizationRequests: { enabled: false },
  revocation: {
    enabled: true,
    // A client may revoke its own tokens and learns nothing about those of others.
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
    getResourceServerInfo: async (_ctx: ProviderContext, requested: string) => {
      if (requested !== resource)
        throw new library.errors.InvalidTarget(`the only supported resource is ${resource}`);
      return {
        scope: SCOPE,
        audience: resource,
        accessTokenTTL: ACCESS_S,
        accessTokenFormat: 'opaque',
      };
    },
  },
});

/** Asks for consent every time: the page shows which app asks, and the provider has no sessions. */
function consentPolicy({ interactionPolicy }: Library) {
  const { Check, Prompt, base } = interactionPolicy;
  const policy = base();
  policy.clear();
  const consent = new Check(
    'asked',
    'consent is required each time',
    'consent_required',
    ctx => !ctx.oidc.result?.consent?.grantId,
  );
  policy.add(
    new Prompt(
      { name: 'consent', requestable: true },
      ctx => ({ name: ctx.oidc.client?.clientName ?? '' }),
      consent,
    ),
  );
  return policy;
}

const TTL = {
  AccessToken: ACCESS_S,
  AuthorizationCode: CODE_S,
  RefreshToken: REFRESH_S,
  Grant: GRANT_S,
  Interaction: INTERACTION_S,
  Session: CODE_S,
  IdToken: CODE_S,
};

const configurationOf = (library: Library, deps: ProviderDeps) => ({
  adapter: deps.adapter,
  jwks: { keys: deps.keys.jwks },
  cookies: { keys: deps.keys.cookies, names: COOKIES },
  routes: OAUTH_PATHS,
  scopes: [SCOPE],
  responseTypes: ['code'],
  pkce: { required: () => true },
  clientAuthMethods: [...CLIENT_AUTH_METHODS],
  clientDefaults: { application_type: 'native', id_token_signed_response_alg: 'ES256' },
  // Any origin: access depends on the token, not on the page that sends it.
  clientBasedCORS: () => true,
  clockTolerance: 0,
  enableHttpPostMethods: false,
  expiresWithSession: async () => false,
  issueRefreshToken: async () => true,
  rotateRefreshToken: ({ oidc }: ProviderContext) => isDue(oidc.entities.RefreshToken!, Date.now()),
  revokeGrantPolicy: () => true,
  fetch: deps.fetch,
  interactions: {
    policy: consentPolicy(library),
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
  renderError: (ctx: ProviderContext, error: OAuthErrorFields) =>
    deps.renderError(ctx, error, errorRedirect(ctx, error)),
  ttl: TTL,
  features: featuresOf(library, deps),
});

/** Trims the metadata, adds headers to a 503, and drops the session cookie. */
async function adjustResponse(ctx: ProviderContext, next: () => Promise<void>): Promise<void> {
  await next();
  if (ctx.status === 503) {
    ctx.res.setHeader('retry-after', String(OUTAGE.retryAfterS));
    ctx.res.setHeader('cache-control', 'no-store');
  }
  if (ctx._matchedRouteName === 'discovery')
    ctx.body = oauthMetadata(ctx.body as Record<string, unknown>);
  // The dashboard owns sessions; the provider keeps none.
  const kept = [ctx.res.getHeader('set-cookie') ?? []]
    .flat()
    .filter(cookie => !String(cookie).startsWith(COOKIES.session));
  if (kept.length > 0) ctx.res.setHeader('set-cookie', kept.map(String));
  else ctx.res.removeHeader('set-cookie');
}

export function createProvider(library: Library, deps: ProviderDeps): Provider {
  const provider = new library.Provider(deps.issuer, configurationOf(library, deps));
  // The response to a repeated refresh contains the same token (refresh-tokens.ts).
  provider.RefreshToken.prototype.generateTokenId = function () {
    return deps.refreshTokens.idOf(this.grantId, this.rotations);
  };
  provider.on('authorization.error', keepErrorsHere);
  reportUnreadable(provider);
  // Each request carries host and protocol of the public URL (forward-request.ts).
  provider.proxy = true;
  provider.use(adjustResponse);
  return provider;
}
