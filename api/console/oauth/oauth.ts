// Wires the OAuth server. The library is loaded, and the keys are read, with the first call that
// needs them; with new keys there is a new provider.
import type { ServerResponse } from 'node:http';
import type { Provider, ProviderContext } from 'oidc-provider';
import type { Log } from '../../../common/log.ts';
import type { Metrics } from '../../../common/operations.ts';
import type { ByteBudget } from '../../http/byte-budget.ts';
import type { Context, Route } from '../../http/state.ts';
import type { Store } from '../../store/store.ts';
import type { pageRoutes } from '../html/page-route.ts';
import type { Audit } from '../security/audit.ts';
import { createEncryption } from '../security/encryption.ts';
import type { AccessTokens } from './access.ts';
import { createAccessTokens } from './access-tokens.ts';
import { type Adapter, createAdapter } from './adapter.ts';
import type { ClientFetch } from './client-fetch.ts';
import { type Consents, createConsents } from './consents.ts';
import { awayAsJson, overDatabase } from './database-away.ts';
import { createFreshKeys, madeOfKeys } from './fresh-keys.ts';
import { appName, createGrants, type Grants } from './grants.ts';
import { type OAuthKeys, oauthKeys, readOAuthKeys } from './keys.ts';
import { createOAuthLimits } from './oauth-limits.ts';
import { type CountOAuthEvent, countTokens, oauthMetrics } from './oauth-metrics.ts';
import { oauthRoutes } from './oauth-routes.ts';
import { createProvider, type ProviderDeps } from './provider.ts';
import { createRefreshTokens } from './refresh-tokens.ts';
import { watchedFetch } from './unreadable-documents.ts';

export interface OAuthDeps {
  publicUrl: string;
  /** What tokens are for; also their audience. */
  resource: string;
  secret: string;
  store: Store;
  audit: Audit;
  budget: ByteBudget;
  log: Log;
  metrics: Metrics;
  /** How apps make themselves known. */
  clients: ProviderDeps['clients'];
  ipOf(ctx: Context): string;
  renderError: ProviderDeps['renderError'];
  page: ReturnType<typeof pageRoutes>;
  /** The way to the documents in which apps describe themselves. */
  clientFetch: ClientFetch;
}

export interface OAuth {
  routes: Route[];
  tokens: AccessTokens;
  grants: Grants;
  consents: Consents;
  resource: string;
}

/** The library with one set of keys. */
interface Made {
  provider: Provider;
  serve: ReturnType<Provider['callback']>;
}

/** The adapter with each operation wrapped by `guarded`. */
function guardedAdapter(adapter: Adapter, guarded: ReturnType<typeof overDatabase>): Adapter {
  return {
    upsert: guarded(adapter.upsert),
    find: guarded(adapter.find),
    findByUid: guarded(adapter.findByUid),
    findByUserCode: guarded(adapter.findByUserCode),
    consume: guarded(adapter.consume),
    destroy: guarded(adapter.destroy),
    revokeByGrantId: guarded(adapter.revokeByGrantId),
  };
}

/** Ends a consent. `reuse`: a code or refresh token was used twice, so it may be stolen. */
async function endGrant(
  { grants, count, log, audit }: { grants: Grants; count: CountOAuthEvent; log: Log; audit: Audit },
  grantId: string,
  why: 'given back' | 'reuse',
): Promise<void> {
  const ended = await grants.end(grantId);
  if (!ended) return;
  count('consent_ended');
  const { account, user } = ended;
  const reuse = why === 'reuse';
  if (reuse)
    log.warn(
      { account, user, app: appName(ended) },
      'a code or refresh token came twice, perhaps a stolen one: the consent is ended',
    );
  await audit.note(
    { account, user, actor: `the app ${appName(ended)}` },
    {
      action: 'app.disconnected',
      target: appName(ended),
      details: reuse ? { by: 'service', reason: 'token reuse' } : { by: 'app' },
    },
  );
}

export function createOAuth(deps: OAuthDeps): OAuth {
  const {
    publicUrl,
    resource,
    secret,
    store,
    audit,
    budget,
    log,
    clients,
    ipOf,
    renderError,
    page,
  } = deps;
  const encryption = createEncryption(secret, 'oauth');
  const refreshTokens = createRefreshTokens(secret);
  const grants = createGrants(store);
  const limit = createOAuthLimits(store, secret);
  const count = oauthMetrics(deps.metrics);
  const keysNow = createFreshKeys({
    first: () => oauthKeys(store, secret, log),
    again: async () => {
      store.primary.throwIfMissing();
      return readOAuthKeys(store, secret);
    },
  });
  /**
   * Who calls, for what is counted in the midst of the provider. By the answer: the provider may be
   * given another request.
   */
  const callers = new WeakMap<ServerResponse, string>();

  async function make(keys: OAuthKeys): Promise<Made> {
    const loaded = await import('oidc-provider');
    const guarded = overDatabase(loaded, store, log);
    const adapter = createAdapter({
      store,
      encryption,
      refreshTokens,
      keepGrant: grants.keepUntil,
      endGrant: grantId =>
        endGrant(
          { grants, count, log, audit },
          grantId,
          loaded.Provider.ctx?.oidc.route === 'revocation' ? 'given back' : 'reuse',
        ),
      alreadyUsed: () => new loaded.errors.InvalidGrant('already used'),
      onRepeated: () => count('tokens_repeated'),
    });
    const provider = createProvider(loaded, {
      issuer: publicUrl,
      resource,
      keys,
      adapter: kind => guardedAdapter(adapter(kind), guarded),
      refreshTokens,
      clients,
      fetch: watchedFetch(deps.clientFetch, { count, log, ctx: () => loaded.Provider.ctx }),
      mayFetchDocument: guarded(async ctx => {
        const ip = ctx && callers.get(ctx.res);
        return ip === undefined || (await limit('document', ip)) === undefined;
      }),
      mayHaveTokens: guarded(async (user, grantId) =>
        grantId === undefined ? grants.isThere(user) : (await grants.valid(grantId))?.user === user,
      ),
      renderError,
    });
    countTokens(provider, count);
    // The library answers with an error of its own.
    provider.on('server_error', (_ctx: ProviderContext, error: Error) =>
      log.error({ err: error }, 'the OAuth server failed a call'),
    );
    provider.on('error', (error: Error) =>
      log.debug({ reason: error.message }, 'an answer could not be sent as a whole'),
    );
    return { provider, serve: provider.callback() };
  }

  const made = madeOfKeys(keysNow, make);

  return {
    resource,
    grants,
    tokens: createAccessTokens(store, encryption, grants),
    consents: createConsents({
      provider: async () => (await made()).provider,
      count,
      grants,
      resource,
    }),
    routes: oauthRoutes({
      publicUrl,
      serve: async () => (await made()).serve,
      away: awayAsJson(log),
      budget,
      limit,
      ipOf: ctx => {
        const ip = ipOf(ctx);
        callers.set(ctx.res, ip);
        return ip;
      },
      registration: clients.registration,
      page,
    }),
  };
}
