// Wires the OAuth server. The library is loaded, and the keys are read, with the first call that needs them.
import type { IncomingMessage } from 'node:http';
import type { Provider, ProviderContext } from 'oidc-provider';
import type { Log } from '../../../common/log.ts';
import type { ByteBudget } from '../../http/byte-budget.ts';
import type { Context } from '../../http/state.ts';
import { isDatabaseUnavailable, type Store } from '../../store/store.ts';
import type { pageRoutes } from '../pages/page-route.ts';
import type { Audit } from '../people/audit.ts';
import { createSeal } from '../people/seal.ts';
import type { AccessTokens } from './access.ts';
import { createAccessTokens } from './access-tokens.ts';
import { createAdapter } from './adapter.ts';
import { type ClientFetch, createClientFetch } from './client-fetch.ts';
import { type Consents, createConsents } from './consents.ts';
import { createGrants, type Grants } from './grants.ts';
import { oauthKeys } from './keys.ts';
import { createOAuthLimits } from './oauth-limits.ts';
import { type OAuthRoute, oauthRoutes } from './oauth-routes.ts';
import { createProvider, type ProviderDeps } from './provider.ts';

export interface OAuthDeps {
  publicUrl: string;
  secret: string;
  store: Store;
  audit: Audit;
  budget: ByteBudget;
  log: Log;
  /** How apps make themselves known. */
  clients: ProviderDeps['clients'];
  ipOf(ctx: Context): string;
  renderError: ProviderDeps['renderError'];
  page: ReturnType<typeof pageRoutes>;
  /** For tests: another way to the documents in which apps describe themselves. */
  clientFetch?: ClientFetch | undefined;
}

export interface OAuth {
  routes: OAuthRoute[];
  tokens: AccessTokens;
  grants: Grants;
  consents: Consents;
  /** What tokens are for; also their audience. */
  resource: string;
}

/** What the tool's address is, from which its tokens are named. */
export const mcpResource = (publicUrl: string): string => new URL(`${publicUrl}/mcp`).href;

type Library = typeof import('oidc-provider');

export function createOAuth(deps: OAuthDeps): OAuth {
  const { publicUrl, secret, store, audit, budget, log, clients, ipOf, renderError, page } = deps;
  const seal = createSeal(secret, 'oauth');
  const grants = createGrants(store);
  const limit = createOAuthLimits(store, secret);
  const resource = mcpResource(publicUrl);
  /** Who calls, for what is counted in the midst of the provider. */
  const callers = new WeakMap<IncomingMessage, string>();
  const documents = deps.clientFetch ?? createClientFetch();
  let library: Library | undefined;
  let made: Promise<Provider> | undefined;

  /** The app gave it back, or what works once came twice. */
  async function endGrant(grantId: string): Promise<void> {
    const ended = await grants.end(grantId);
    if (!ended) return;
    await audit.note(
      { account: ended.account, user: ended.user, actor: `the app ${ended.clientName || ended.clientId}` },
      { action: 'app.disconnected', target: ended.clientName || ended.clientId, details: { by: 'app' } },
    );
  }

  const fetchDocument: ClientFetch = async (url, options) => {
    try {
      return await documents(url, options);
    } catch (error) {
      log.info({ host: new URL(url).host, reason: (error as Error).message }, 'the document of an app could not be read');
      throw error;
    }
  };

  async function make(): Promise<Provider> {
    const loaded = await import('oidc-provider');
    const provider = createProvider(loaded, {
      issuer: publicUrl,
      resource,
      keys: await oauthKeys(store, secret, log),
      adapter: createAdapter({
        store,
        seal,
        keepGrant: grants.keepUntil,
        endGrant,
        alreadyUsed: () => new loaded.errors.InvalidGrant('already used'),
      }),
      clients,
      fetch: fetchDocument,
      mayFetchDocument: async ctx => {
        const ip = ctx && callers.get(ctx.req);
        return ip === undefined || (await limit('document', ip)) === undefined;
      },
      mayHaveTokens: async (user, grantId) => (grantId === undefined ? grants.isThere(user) : (await grants.valid(grantId))?.user === user),
      renderError,
    });
    // The library answers with an error of its own.
    provider.on('server_error', (_ctx: ProviderContext, error: Error) => {
      if (isDatabaseUnavailable(error)) log.warn({ reason: error.message }, 'the database failed a call of the OAuth server');
      else log.error({ err: error }, 'the OAuth server failed a call');
    });
    provider.on('error', (error: Error) => log.debug({ reason: error.message }, 'an answer could not be sent as a whole'));
    library = loaded;
    return provider;
  }

  function provider(): Promise<Provider> {
    made ??= make().catch(error => {
      made = undefined;
      throw error;
    });
    return made;
  }

  return {
    resource,
    grants,
    tokens: createAccessTokens(store, seal, grants),
    consents: createConsents({
      provider,
      grants,
      resource,
      isGone: error => library !== undefined && error instanceof library.errors.SessionNotFound,
    }),
    routes: oauthRoutes({
      publicUrl,
      provider,
      budget,
      limit,
      ipOf: ctx => {
        const ip = ipOf(ctx);
        callers.set(ctx.req, ip);
        return ip;
      },
      registration: clients.registration,
      page,
    }),
  };
}
