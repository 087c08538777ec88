// The paths of the OAuth server: what is counted and cut down before oidc-provider sees it.
import { subscriberOf } from '../../../common/addresses.ts';
import { BODY_TIMES, jsonBody, sayContinue } from '../../http/body.ts';
import { type ByteBudget, overloaded } from '../../http/byte-budget.ts';
import type { Context, Middleware, Route } from '../../http/state.ts';
import type { pageRoutes } from '../html/page-route.ts';
import { formBytes } from '../kit/form-body.ts';
import { OAUTH_PATHS } from '../kit/oauth-paths.ts';
import { SCOPE } from './access.ts';
import { ClientRefused, clientMetadata } from './client-metadata.ts';
import { type HandOverDeps, handOver } from './hand-over.ts';
import { type OAuthLimits, tooMuch } from './oauth-limits.ts';

interface Deps extends HandOverDeps {
  /** Says that the database is away. */
  away: Middleware;
  budget: ByteBudget;
  limit: OAuthLimits;
  registration: boolean;
  /** What a person may see goes wrong as a page. */
  page: ReturnType<typeof pageRoutes>;
}

const METADATA_PATHS = [
  '/.well-known/oauth-authorization-server',
  '/.well-known/openid-configuration',
];
/** Other bodies from the address are still arriving. */
const SHARE_RETRY_S = 2;
const TOKEN_MAX_BYTES = 32 * 1_024;
const REGISTRATION_LIMITS = {
  ...BODY_TIMES,
  maxBytes: 32 * 1_024,
  words: { missing: 'Send the metadata of the client as a JSON object.', tooLarge: 'Send less.' },
};
/**
 * What an authorization request may say here. Others would only be refused by one rule or another
 * of OpenID Connect.
 */
const ASKED: ReadonlySet<string> = new Set(
  'client_id redirect_uri response_type response_mode state code_challenge code_challenge_method resource'.split(
    ' ',
  ),
);

/**
 * One scope, which the page of consent names: whatever else an app asks for is left out, as RFC
 * 6749 section 3.3 lets a server do.
 */
function asked(query: string): string {
  const given = new URLSearchParams(query);
  const kept = new URLSearchParams([...given].filter(([name]) => ASKED.has(name)));
  kept.set('scope', SCOPE);
  // The person is asked each time anyway; "none" must be answered with an error.
  if (given.get('prompt') === 'none') kept.set('prompt', 'none');
  return kept.toString();
}

export function oauthRoutes({
  publicUrl,
  serve,
  away,
  budget,
  limit,
  ipOf,
  registration,
  page,
}: Deps): Route[] {
  const hand = handOver({ publicUrl, serve, ipOf });

  async function count(what: 'registration' | 'authorization', ctx: Context): Promise<void> {
    const waitS = await limit(what, ipOf(ctx));
    if (waitS !== undefined) throw tooMuch(waitS);
  }

  /** The caller is not known yet, so the share is that of its address. */
  const holderOf = (ctx: Context) => ({
    id: subscriberOf(ipOf(ctx)),
    full: overloaded,
    share: () => tooMuch(SHARE_RETRY_S),
  });

  const boundedRegistration: Middleware = async (ctx, next) => {
    await count('registration', ctx);
    await next();
  };

  /** Pages of other origins may call: nothing here goes by cookies. */
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
      await hand(ctx, { body: Buffer.from(JSON.stringify(metadata)) });
    } catch (error) {
      if (!(error instanceof ClientRefused)) throw error;
      ctx.status = 400;
      ctx.state.code = 'validation_error';
      ctx.set('Cache-Control', 'no-store');
      ctx.body = { error: error.error, error_description: error.message };
    }
  };

  const authorize: Middleware = async ctx => {
    await count('authorization', ctx);
    await hand(ctx, { url: `${ctx.path}?${asked(ctx.querystring)}` });
  };
  const direct: Middleware = ctx => hand(ctx);

  /**
   * One scope is all that there is. An app that asks again for what it asked at first, of which the
   * rest was left out, would be refused by the letter of RFC 6749 section 6.
   */
  const token: Middleware = async ctx => {
    if (!ctx.is('application/x-www-form-urlencoded')) return hand(ctx);
    const fields = new URLSearchParams(
      (await formBytes(ctx.req, TOKEN_MAX_BYTES, () => sayContinue(ctx))).toString(),
    );
    fields.delete('scope');
    await hand(ctx, { body: Buffer.from(fields.toString()) });
  };

  const metadata = METADATA_PATHS.flatMap(path => {
    const handed: Middleware = ctx => hand(ctx, { url: path });
    // The path forms of RFC 8414 section 3.1 as well: some clients ask for them with the resource's
    // path.
    return [path, `${path}/{*resource}`].flatMap((each): Route[] => [
      { method: 'get', path: each, handle: [away, handed] },
      { method: 'options', path: each, handle: [away, handed] },
    ]);
  });

  const ofRegistration: Route[] = [
    {
      method: 'post',
      path: OAUTH_PATHS.registration,
      handle: [
        anyOrigin,
        away,
        boundedRegistration,
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
    { method: 'post', path: OAUTH_PATHS.token, handle: [away, token] },
    { method: 'options', path: OAUTH_PATHS.token, handle: [away, direct] },
    { method: 'post', path: OAUTH_PATHS.revocation, handle: [away, direct] },
    { method: 'options', path: OAUTH_PATHS.revocation, handle: [away, direct] },
    { method: 'get', path: OAUTH_PATHS.jwks, handle: [away, direct] },
    ...(registration ? ofRegistration : []),
  ];
}
