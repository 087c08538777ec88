// Wires the OAuth server. The library and the keys are loaded with the first call that needs them;
// new keys create a new provider.
import type { ServerResponse } from 'node:http';
import type { Provider, ProviderContext } from 'oidc-provider';
import { createEncryption, type Encryption } from '../../../common/encryption.ts';
import type { Log } from '../../../common/log.ts';
import type { Metrics } from '../../../common/operations.ts';
import type { ByteBudget } from '../../http/byte-budget.ts';
import type { Context } from '../../http/state.ts';
import type { Store } from '../../store/store.ts';
import type { pageRoutes } from '../html/page-route.ts';
import type { Audit } from '../security/audit.ts';
import { createAccessTokens } from './access-tokens.ts';
import { type Adapter, createAdapter } from './adapter.ts';
import type { ClientFetch } from './client-fetch.ts';
import { createConsents } from './consents.ts';
import { type DatabaseGuard, databaseErrorAsJson, databaseGuard } from './database-unavailable.ts';
import { createFreshKeys, rebuiltForKeys } from './fresh-keys.ts';
import { appName, createGrants, type Grants } from './grants.ts';
import { type OAuthKeys, oauthKeys, readOAuthKeys } from './keys.ts';
import { createOAuthLimits, type OAuthLimits } from './oauth-limits.ts';
import { type CountOAuthEvent, countTokens, oauthMetrics } from './oauth-metrics.ts';
import { oauthRoutes } from './oauth-routes.ts';
import { createProvider, type ProviderDeps } from './provider.ts';
import { createRefreshTokens, type RefreshTokens } from './refresh-tokens.ts';
import { reportedFetch } from './unreadable-documents.ts';

export interface OAuthDeps {
  publicUrl: string;
  /** The protected resource, which is also the audience of tokens. */
  resource: string;
  secret: string;
  store: Store;
  audit: Audit;
  budget: ByteBudget;
  log: Log;
  metrics: Metrics;
  /** Which ways apps may identify themselves. */
  clients: ProviderDeps['clients'];
  ipOf(ctx: Context): string;
  renderError: ProviderDeps['renderError'];
  page: ReturnType<typeof pageRoutes>;
  /** Fetches the metadata documents of apps. */
  clientFetch: ClientFetch;
}

export type OAuth = ReturnType<typeof createOAuth>;

type Library = typeof import('oidc-provider');

/** The library with one set of keys. */
interface LoadedProvider {
  provider: Provider;
  serve: ReturnType<Provider['callback']>;
}

/** What all providers share, whatever their keys. */
interface Shared extends OAuthDeps {
  encryption: Encryption;
  refreshTokens: RefreshTokens;
  grants: Grants;
  limit: OAuthLimits;
  count: CountOAuthEvent;
  /** Caller addresses by response, since the provider may be given a replaced request. */
  callers: WeakMap<ServerResponse, string>;
}

/** Ends a consent. `reuse`: a code or refresh token was used twice, so it may be stolen. */
async function endGrant(
  { grants, count, log, audit }: Shared,
  grantId: string,
  why: 'revocation' | 'reuse',
): Promise<void> {
  const ended = await grants.end(grantId);
  if (!ended) return;
  count('consent_ended');
  const { account, user } = ended;
  const reuse = why === 'reuse';
  if (reuse)
    log.warn(
      { account, user, app: appName(ended) },
      'a code or refresh token was used twice and may be stolen: ended the consent',
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

/** The adapter with each operation wrapped by `guard`. */
function guardedAdapter(adapter: Adapter, guard: DatabaseGuard): Adapter {
  return {
    upsert: guard(adapter.upsert),
    find: guard(adapter.find),
    findByUid: guard(adapter.findByUid),
    findByUserCode: guard(adapter.findByUserCode),
    consume: guard(adapter.consume),
    destroy: guard(adapter.destroy),
    revokeByGrantId: guard(adapter.revokeByGrantId),
  };
}

function providerAdapter(
  library: Library,
  shared: Shared,
  guard: DatabaseGuard,
): (kind: string) => Adapter {
  const { store, encryption, refreshTokens, grants, count } = shared;
  const adapter = createAdapter({
    store,
    encryption,
    refreshTokens,
    keepGrant: grants.keepUntil,
    endGrant: grantId => {
      const isRevocation = library.Provider.ctx?.oidc.route === 'revocation';
      return endGrant(shared, grantId, isRevocation ? 'revocation' : 'reuse');
    },
    alreadyUsed: () => new library.errors.InvalidGrant('already used'),
    onRepeated: () => count('tokens_repeated'),
  });
  return kind => guardedAdapter(adapter(kind), guard);
}

async function loadProvider(shared: Shared, keys: OAuthKeys): Promise<LoadedProvider> {
  const library = await import('oidc-provider');
  const { publicUrl, resource, store, log, clients, renderError } = shared;
  const { refreshTokens, grants, limit, count, callers, clientFetch } = shared;
  const guard = databaseGuard(library, store, log);
  const provider = createProvider(library, {
    issuer: publicUrl,
    resource,
    keys,
    adapter: providerAdapter(library, shared, guard),
    refreshTokens,
    clients,
    fetch: reportedFetch(clientFetch, { count, log, ctx: () => library.Provider.ctx }),
    mayFetchDocument: guard(async ctx => {
      const ip = ctx && callers.get(ctx.res);
      return ip === undefined || (await limit('document', ip)) === undefined;
    }),
    mayHaveTokens: guard(async (user, grantId) =>
      grantId === undefined ? grants.isEnabled(user) : (await grants.valid(grantId))?.user === user,
    ),
    renderError,
  });
  countTokens(provider, count);
  // Only logged: the library sends its own error response.
  provider.on('server_error', (_ctx: ProviderContext, error: Error) =>
    log.error({ err: error }, 'a request to the OAuth server failed'),
  );
  provider.on('error', (error: Error) =>
    log.debug({ reason: error.message }, 'could not send the response completely'),
  );
  return { provider, serve: provider.callback() };
}

export function createOAuth(deps: OAuthDeps) {
  const { publicUrl, resource, secret, store, budget, log, clients, page } = deps;
  const shared: Shared = {
    ...deps,
    encryption: createEncryption(secret, 'oauth'),
    refreshTokens: createRefreshTokens(secret),
    grants: createGrants(store),
    limit: createOAuthLimits(store, secret),
    count: oauthMetrics(deps.metrics),
    callers: new WeakMap(),
  };
  const { encryption, grants, limit, count, callers } = shared;
  const currentKeys = createFreshKeys({
    first: () => oauthKeys(store, secret, log),
    again: async () => {
      store.primary.throwIfMissing();
      return readOAuthKeys(store, secret);
    },
  });
  const loaded = rebuiltForKeys(currentKeys, keys => loadProvider(shared, keys));

  return {
    resource,
    grants,
    tokens: createAccessTokens(store, encryption, grants),
    consents: createConsents({
      provider: async () => (await loaded()).provider,
      count,
      grants,
      resource,
    }),
    routes: oauthRoutes({
      publicUrl,
      serve: async () => (await loaded()).serve,
      onDatabaseError: databaseErrorAsJson(log),
      budget,
      limit,
      ipOf: ctx => {
        const ip = deps.ipOf(ctx);
        callers.set(ctx.res, ip);
        return ip;
      },
      registration: clients.registration,
      page,
    }),
  };
}
