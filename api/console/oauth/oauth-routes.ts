// The routes of the OAuth server: rate limits, and the parameters that reach oidc-provider.
import { subscriberOf } from '../../../common/addresses.ts';
import { BODY_TIMES, jsonBody, sendContinue } from '../../http/body.ts';
import { type ByteBudget, overloaded } from '../../http/byte-budget.ts';
import type { Context, Middleware, Route } from '../../http/state.ts';
import type { pageRoutes } from '../html/page-route.ts';
import { formBytes } from '../kit/form-body.ts';
import { OAUTH_PATHS } from '../kit/oauth-paths.ts';
import { SCOPE } from './access.ts';
import { clientMetadata, InvalidClient } from './client-metadata.ts';
import { type ForwardDeps, forwardToProvider } from './forward-request.ts';
import { type OAuthLimits, tooManyOauthCalls } from './oauth-limits.ts';

interface Deps extends ForwardDeps {
  /** Responds when the database is unavailable. */
  onDatabaseError: Middleware;
  budget: ByteBudget;
  limit: OAuthLimits;
  registration: boolean;
  /** Routes whose errors are pages. */
  page: ReturnType<typeof pageRoutes>;
}

const METADATA_PATHS = [
  '/.well-known/oauth-authorization-server',
  '/.well-known/openid-configuration',
];
/** Soon, when other bodies from the address have arrived. */
const SHARE_RETRY_S = 2;
const TOKEN_MAX_BYTES = 32 * 1_024;
const REGISTRATION_LIMITS = {
  ...BODY_TIMES,
  maxBytes: 32 * 1_024,
  hints: {
    missing: 'Send the client metadata as a JSON object.',
    tooLarge: 'Send a smaller object.',
  },
};
/**
 * The parameters of an authorization request that are passed on; the library rejects some others by
 * the rules of OpenID Connect.
 */
const PARAMETERS: ReadonlySet<string> = new Set(
  'client_id redirect_uri response_type response_mode state code_challenge code_challenge_method resource'.split(
    ' ',
  ),
);

/** Sets the only scope, which the consent page names; RFC 6749 section 3.3 allows that. */
function authorizationQuery(query: string): string {
  const given = new URLSearchParams(query);
  const kept = new URLSearchParams([...given].filter(([name]) => PARAMETERS.has(name)));
  kept.set('scope', SCOPE);
  // Consent is required each time, so `none` must return an error.
  if (given.get('prompt') === 'none') kept.set('prompt', 'none');
  return kept.toString();
}

export function oauthRoutes({
  publicUrl,
  serve,
  onDatabaseError,
  budget,
  limit,
  ipOf,
  registration,
  page,
}: Deps): Route[] {
  const toProvider = forwardToProvider({ publicUrl, serve, ipOf });

  async function count(what: 'registration' | 'authorization', ctx: Context): Promise<void> {
    const waitS = await limit(what, ipOf(ctx));
    if (waitS !== undefined) throw tooManyOauthCalls(waitS);
  }

  /** The caller is anonymous, so the share is that of its address. */
  const holderOf = (ctx: Context) => ({
    id: subscriberOf(ipOf(ctx)),
    full: overloaded,
    share: () => tooManyOauthCalls(SHARE_RETRY_S),
  });

  const limitRegistrations: Middleware = async (ctx, next) => {
    await count('registration', ctx);
    await next();
  };

  /** Other origins may call, since these paths use no cookies. */
  const anyOrigin: Middleware = async (ctx, next) => {
    ctx.set('Access-Control-Allow-Origin', '*');
    await next();
  };

  const preflight: Middleware = ctx => {
    ctx.set({
      'Access-Control-Allow-Origin': '*',
      'Access-Control-Allow-Methods': 'POST',
      'Access-Control-Allow-Headers': 'content-type, mcp-protocol-version',
      'Access-Control-Max-Age': '3600',
    });
    ctx.status = 204;
  };

  const register: Middleware = async ctx => {
    try {
      const metadata = clientMetadata(ctx.state.body, 'registration');
      await toProvider(ctx, { body: Buffer.from(JSON.stringify(metadata)) });
    } catch (error) {
      if (!(error instanceof InvalidClient)) throw error;
      ctx.status = 400;
      ctx.state.code = 'validation_error';
      ctx.set('Cache-Control', 'no-store');
      ctx.body = { error: error.error, error_description: error.message };
    }
  };

  const authorize: Middleware = async ctx => {
    await count('authorization', ctx);
    await toProvider(ctx, { url: `${ctx.path}?${authorizationQuery(ctx.querystring)}` });
  };
  const direct: Middleware = ctx => toProvider(ctx);

  /**
   * Drops the scope, since there is only one. By RFC 6749 section 6 an app that repeats its
   * original scopes, of which only one was granted, would be rejected.
   */
  const token: Middleware = async ctx => {
    if (!ctx.is('application/x-www-form-urlencoded')) return toProvider(ctx);
    const fields = new URLSearchParams(
      (await formBytes(ctx.req, TOKEN_MAX_BYTES, () => sendContinue(ctx))).toString(),
    );
    fields.delete('scope');
    await toProvider(ctx, { body: Buffer.from(fields.toString()) });
  };

  const metadata = METADATA_PATHS.flatMap(path => {
    const handle: Middleware = ctx => toProvider(ctx, { url: path });
    // Also the path forms of RFC 8414 section 3.1, which some clients request with the resource's
    // path.
    return [path, `${path}/{*resource}`].flatMap((each): Route[] => [
      { method: 'get', path: each, handle: [onDatabaseError, handle] },
      { method: 'options', path: each, handle: [onDatabaseError, handle] },
    ]);
  });

  const registrationRoutes: Route[] = [
    {
      method: 'post',
      path: OAUTH_PATHS.registration,
      handle: [
        anyOrigin,
        onDatabaseError,
        limitRegistrations,
        jsonBody(REGISTRATION_LIMITS, budget, holderOf),
        register,
      ],
    },
    { method: 'options', path: OAUTH_PATHS.registration, handle: [preflight] },
  ];

  return [
    ...metadata,
    page('get', OAUTH_PATHS.authorization, authorize),
    page('get', `${OAUTH_PATHS.authorization}/:uid`, direct),
    { method: 'post', path: OAUTH_PATHS.token, handle: [onDatabaseError, token] },
    { method: 'options', path: OAUTH_PATHS.token, handle: [onDatabaseError, direct] },
    { method: 'post', path: OAUTH_PATHS.revocation, handle: [onDatabaseError, direct] },
    { method: 'options', path: OAUTH_PATHS.revocation, handle: [onDatabaseError, direct] },
    { method: 'get', path: OAUTH_PATHS.jwks, handle: [onDatabaseError, direct] },
    ...(registration ? registrationRoutes : []),
  ];
}
