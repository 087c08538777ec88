// Wires the dashboard: sessions, pages, the management API and the built page. Returns what the
// application routes and what runs beside it.
import type { Network } from '../../common/addresses.ts';
import type { Service } from '../../common/lifecycle.ts';
import type { Log } from '../../common/log.ts';
import type { Metrics } from '../../common/operations.ts';
import { AccountKeys } from '../accounts/account-keys.ts';
import type { AccountRequests } from '../accounts/account-requests.ts';
import { Accounts } from '../accounts/accounts.ts';
import type { Plan } from '../accounts/plans.ts';
import { RenderLog } from '../history/render-log.ts';
import { createRetention } from '../history/retention.ts';
import type { ByteBudget } from '../http/byte-budget.ts';
import type { Middleware, Route } from '../http/state.ts';
import type { FirstAdmin } from './auth/admin-config.ts';
import { createAuth } from './auth/auth.ts';
import { bootstrapService } from './auth/bootstrap.ts';
import { createOperators } from './auth/operators.ts';
import { createSessions } from './auth/sessions.ts';
import { type BillingConfig, createBilling } from './billing/create-billing.ts';
import { pageRoutes } from './html/page-route.ts';
import { createCookies } from './kit/cookies.ts';
import type { ConsoleRoute } from './kit/route.ts';
import { type StaticFiles, staticFiles } from './kit/static-files.ts';
import { type McpDeps, mcpRoutes } from './mcp/mcp.ts';
import { mcpResource } from './mcp/protected-resource.ts';
import type { ClientFetch } from './oauth/client-fetch.ts';
import { createOAuth, type OAuth } from './oauth/oauth.ts';
import type { ProviderDeps } from './oauth/provider.ts';
import { consentPages, showOAuthError } from './pages/consent.ts';
import { invitationPages } from './pages/invitation.ts';
import { secondFactorPages } from './pages/second-factor.ts';
import { setupPages } from './pages/setup.ts';
import { signInPages } from './pages/sign-in.ts';
import { ssoPages } from './pages/sso.ts';
import { createHeartbeat, type HeartbeatDeps } from './reports/heartbeat.ts';
import { appRoutes } from './routes/apps.ts';
import { auditRoutes } from './routes/audit.ts';
import { billingRoutes } from './routes/billing.ts';
import { consoleRoutes } from './routes/console-router.ts';
import { descriptionRoute } from './routes/description.ts';
import { keyRoutes } from './routes/keys.ts';
import { meRoutes } from './routes/me.ts';
import { operatorAccountRoutes } from './routes/operator-accounts.ts';
import { operatorHealthRoutes } from './routes/operator-health.ts';
import { operatorLiveRoutes } from './routes/operator-live.ts';
import { operatorUserRoutes } from './routes/operator-users.ts';
import { overviewRoutes } from './routes/overview.ts';
import { type PlaygroundDeps, playgroundRoutes } from './routes/playground.ts';
import { renderRoutes } from './routes/renders.ts';
import { settingsRoutes } from './routes/settings.ts';
import { teamRoutes } from './routes/team.ts';
import { twoFactorRoutes } from './routes/two-factor.ts';
import { usageRoutes } from './routes/usage.ts';
import { createAudit } from './security/audit.ts';
import type { SsoConfig } from './sso/sso-config.ts';
import { createInvitations } from './users/invitations.ts';
import { createTeams } from './users/teams.ts';

export interface ConsoleDeps extends Omit<PlaygroundDeps, 'renders'>, HeartbeatDeps {
  publicUrl: string;
  secret: string;
  /** The first is the one that new keys take. */
  peppers: readonly string[];
  budget: ByteBudget;
  requests: AccountRequests;
  plans: readonly Plan[];
  pastDueGraceMs: number;
  billing: BillingConfig;
  metrics: Metrics;
  trustedProxies: readonly Network[];
  log: Log;
  renderLogKeepMs: number;
  /** Without it there is neither the tool nor the OAuth server. */
  mcp:
    | (Pick<McpDeps, 'links' | 'renderMs' | 'outputMaxBytes'> & {
        clients: ProviderDeps['clients'];
      })
    | undefined;
  /** Made at the start when nobody has the address. */
  admin: FirstAdmin | undefined;
  sso: SsoConfig | undefined;
  /** False: only operators sign in with a password. */
  passwordSignIn: boolean;
  /** Receives the setup link; without it the link is logged. */
  onSetupLink?: ((url: string) => void) | undefined;
  /** The way to the documents in which apps describe themselves. */
  clientFetch: ClientFetch;
}

export interface Console {
  routes: Route[];
  services: Service[];
  /** Records how renders end, for the API, the playground and MCP. */
  renders: RenderLog;
  /** Where apps get their tokens; only with the MCP tool. */
  oauth: OAuth | undefined;
  /** The management API's, for tests that walk them. */
  rows: readonly ConsoleRoute[];
}

export function createConsole(deps: ConsoleDeps): Console {
  const { publicUrl, store, budget, requests, trustedProxies } = deps;
  const cookies = createCookies(publicUrl);
  const sessions = createSessions(store);
  const audit = createAudit(store);
  const renders = new RenderLog(store, deps.log, deps.metrics);
  const keys = new AccountKeys(store, deps.peppers);
  const accounts = new Accounts(store, deps);
  const teams = createTeams(store);
  const invitations = createInvitations(store, teams);
  const operators = createOperators(store, sessions);
  const auth = createAuth({ ...deps, cookies, sessions, audit, sso: deps.sso });
  const formPage = pageRoutes(deps);
  const {
    billing,
    routes: paymentRoutes,
    services: billingServices,
  } = createBilling({ ...deps, config: deps.billing, audit });
  const oauth = deps.mcp
    ? createOAuth({
        ...deps,
        resource: mcpResource(publicUrl),
        audit,
        clients: deps.mcp.clients,
        ipOf: auth.login.ipOf,
        renderError: (ctx, refusal, back) => showOAuthError(ctx, refusal, back),
        page: formPage,
      })
    : undefined;
  const rows: ConsoleRoute[] = [
    ...meRoutes({ ...deps, auth, billingMode: billing.mode, mcpUrl: oauth?.resource }),
    ...twoFactorRoutes(auth),
    ...(oauth ? appRoutes({ store, grants: oauth.grants, audit }) : []),
    ...settingsRoutes({ accounts, audit }),
    ...teamRoutes({ publicUrl, teams, invitations, audit }),
    ...auditRoutes({ store }),
    ...keyRoutes({ store, keys, audit }),
    ...billingRoutes({ billing, audit }),
    ...playgroundRoutes({ ...deps, renders }),
    ...operatorAccountRoutes({ publicUrl, store, accounts, invitations, audit }),
    ...operatorUserRoutes({ store, operators, audit }),
    ...overviewRoutes(deps),
    ...renderRoutes(deps),
    ...usageRoutes(deps),
    ...operatorLiveRoutes(deps),
    ...operatorHealthRoutes(deps),
    descriptionRoute(publicUrl, () => rows),
  ];

  let files: StaticFiles;
  const toSignIn: Middleware = async (ctx, next) => {
    if (await auth.login.signedIn(ctx)) return next();
    ctx.redirect(
      `/app/sign-in${ctx.path === '/app' ? '' : `?next=${encodeURIComponent(ctx.path + ctx.search)}`}`,
    );
  };
  const page: Middleware = ctx => files.page(ctx);

  return {
    rows,
    renders,
    oauth,
    routes: [
      { method: 'get', path: '/app/assets/{*file}', handle: [ctx => files.asset(ctx)] },
      ...consoleRoutes(rows, {
        publicUrl,
        store,
        sessions,
        cookies,
        budget,
        requests,
        trustedProxies,
      }),
      ...paymentRoutes,
      ...signInPages(auth, formPage),
      ...ssoPages({ ...deps, auth, teams }, formPage),
      ...secondFactorPages(auth, formPage),
      ...setupPages(auth, formPage),
      ...invitationPages(auth, { store, invitations }, formPage),
      ...(oauth ? [...oauth.routes, ...consentPages(auth, oauth, formPage)] : []),
      ...(deps.mcp && oauth
        ? mcpRoutes({
            ...deps,
            ...deps.mcp,
            resource: oauth.resource,
            tokens: oauth.tokens,
            renders,
          })
        : []),
      { method: 'get', path: '/app', handle: [toSignIn, page] },
      { method: 'get', path: '/app/{*path}', handle: [toSignIn, page] },
    ],
    services: [
      renders,
      createRetention(store, deps.renderLogKeepMs, deps.log),
      createHeartbeat(deps),
      ...billingServices,
      {
        name: 'dashboard',
        start: async () => {
          files = await staticFiles();
        },
        stop: async () => {},
      },
      bootstrapService(auth, cookies, deps),
    ],
  };
}
