// Wires the dashboard: sessions, pages, the management API and the built page. Returns the routes and
// the services for the application.
import type { Network } from '../../common/addresses.ts';
import type { Service } from '../../common/lifecycle.ts';
import type { Log } from '../../common/log.ts';
import type { Metrics } from '../../common/operations.ts';
import { AccountKeys } from '../accounts/account-keys.ts';
import type { AccountRequests } from '../accounts/account-requests.ts';
import { Accounts } from '../accounts/accounts.ts';
import type { Plan } from '../accounts/plans.ts';
import type { RenderLog } from '../history/render-log.ts';
import { createRetention } from '../history/retention.ts';
import type { ByteBudget } from '../http/byte-budget.ts';
import type { Middleware, Route } from '../http/state.ts';
import type { FirstAdmin } from './auth/admin-config.ts';
import { type Auth, createAuth } from './auth/auth.ts';
import { bootstrapService } from './auth/bootstrap.ts';
import { createOperators } from './auth/operators.ts';
import { createSessions } from './auth/sessions.ts';
import { type BillingConfig, createBilling } from './billing/create-billing.ts';
import { withNext } from './html/next-path.ts';
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
import { type AsyncRenderDeps, asyncRenderRows } from './routes/async-renders.ts';
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
import { Invitations } from './users/invitations.ts';
import { createTeams } from './users/teams.ts';

export interface ConsoleDeps extends PlaygroundDeps, HeartbeatDeps {
  publicUrl: string;
  secret: string;
  /** New keys use the first. */
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
  /** Without it there is neither the MCP tool nor the OAuth server. */
  mcp:
    | (Pick<McpDeps, 'links' | 'renderMs' | 'outputMaxBytes'> & {
        clients: ProviderDeps['clients'];
      })
    | undefined;
  /** Created at startup unless a user with this address exists. */
  admin: FirstAdmin | undefined;
  /** Undefined when asynchronous renders are off. */
  asynchronous: AsyncRenderDeps['asynchronous'] | undefined;
  sso: SsoConfig | undefined;
  /** False: only operators sign in with a password. */
  passwordSignIn: boolean;
  /** Receives the setup link; without it the link is logged. */
  onSetupLink?: ((url: string) => void) | undefined;
  /** Fetches the client metadata documents of apps. */
  clientFetch: ClientFetch;
}

export interface Console {
  routes: Route[];
  services: Service[];
  /** Records the outcome of renders, for the API, the playground and MCP. */
  renders: RenderLog;
  /** Issues the tokens of apps; only with the MCP tool. */
  oauth: OAuth | undefined;
  /** Of the management API, for tests. */
  rows: readonly ConsoleRoute[];
}

export function createConsole(deps: ConsoleDeps): Console {
  const parts = createParts(deps);
  const { renders } = deps;
  const { auth, billing, cookies, oauth } = parts;
  const rows = managementRows(deps, parts);
  const dashboard = createDashboard(auth);
  return {
    rows,
    renders,
    oauth,
    routes: [
      dashboard.assets,
      ...consoleRoutes(rows, { ...deps, cookies, sessions: auth.sessions }),
      ...billing.routes,
      ...formRoutes(deps, parts),
      ...toolRoutes(deps, parts),
      ...dashboard.pages,
    ],
    services: [
      renders,
      createRetention(deps.store, deps.renderLogKeepMs, deps.log),
      createHeartbeat(deps),
      ...billing.services,
      dashboard.service,
      bootstrapService(auth, cookies, deps),
    ],
  };
}

type Parts = ReturnType<typeof createParts>;

function createParts(deps: ConsoleDeps) {
  const { publicUrl, store } = deps;
  const cookies = createCookies(publicUrl);
  const sessions = createSessions(store);
  const audit = createAudit(store);
  const teams = createTeams(store);
  const auth = createAuth({ ...deps, cookies, sessions, audit });
  const formPage = pageRoutes(deps);
  return {
    cookies,
    audit,
    teams,
    auth,
    formPage,
    keys: new AccountKeys(store, deps.peppers),
    accounts: new Accounts(store, deps),
    invitations: new Invitations(store, teams),
    operators: createOperators(store, sessions),
    billing: createBilling({ ...deps, config: deps.billing, audit }),
    oauth:
      deps.mcp &&
      createOAuth({
        ...deps,
        resource: mcpResource(publicUrl),
        audit,
        clients: deps.mcp.clients,
        ipOf: auth.login.ipOf,
        renderError: showOAuthError,
        page: formPage,
      }),
  };
}

/** The rows of the management API. */
function managementRows(deps: ConsoleDeps, parts: Parts): ConsoleRoute[] {
  const { publicUrl, store, asynchronous } = deps;
  const { auth, accounts, audit, keys, invitations, oauth, operators, teams } = parts;
  const { billing } = parts.billing;
  const rows: ConsoleRoute[] = [
    ...meRoutes({
      ...deps,
      auth,
      billingMode: billing.mode,
      mcpUrl: oauth?.resource,
      asyncRenders: asynchronous !== undefined,
    }),
    ...twoFactorRoutes(auth),
    ...(oauth ? appRoutes({ store, grants: oauth.grants, audit }) : []),
    ...settingsRoutes({ accounts, audit }),
    ...teamRoutes({ publicUrl, teams, invitations, audit }),
    ...auditRoutes({ store }),
    ...keyRoutes({ store, keys, audit }),
    ...billingRoutes({ billing, audit }),
    ...playgroundRoutes(deps),
    ...operatorAccountRoutes({ ...deps, accounts, invitations, audit }),
    ...operatorUserRoutes({ store, operators, audit }),
    ...overviewRoutes(deps),
    ...renderRoutes(deps),
    ...(asynchronous ? asyncRenderRows({ publicUrl, store, audit, asynchronous }) : []),
    ...usageRoutes(deps),
    ...operatorLiveRoutes(deps),
    ...operatorHealthRoutes(deps),
    descriptionRoute(publicUrl, () => rows),
  ];
  return rows;
}

/** The server-rendered pages, and the OAuth server with its consent page. */
const formRoutes = (
  deps: ConsoleDeps,
  { auth, formPage, invitations, oauth, teams }: Parts,
): Route[] => [
  ...signInPages(auth, formPage),
  ...ssoPages({ ...deps, auth, teams }, formPage),
  ...secondFactorPages(auth, formPage),
  ...setupPages(auth, formPage),
  ...invitationPages({ auth, store: deps.store, invitations }, formPage),
  ...(oauth ? [...oauth.routes, ...consentPages(auth, oauth, formPage)] : []),
];

const toolRoutes = (deps: ConsoleDeps, { oauth }: Parts): Route[] =>
  deps.mcp && oauth
    ? mcpRoutes({
        ...deps,
        ...deps.mcp,
        resource: oauth.resource,
        tokens: oauth.tokens,
      })
    : [];

/** The built page, which its service loads, for signed-in users. */
function createDashboard({ login }: Auth) {
  let files: StaticFiles;
  const requireSignIn: Middleware = async (ctx, next) => {
    if (await login.signedIn(ctx)) return next();
    const here = ctx.path === '/app' ? '/app' : ctx.path + ctx.search;
    ctx.redirect(withNext('/app/sign-in', here));
  };
  const page: Middleware = ctx => files.page(ctx);
  const service: Service = {
    name: 'dashboard',
    start: async () => {
      files = await staticFiles();
    },
    stop: async () => {},
  };
  const assets: Route = {
    method: 'get',
    path: '/app/assets/{*file}',
    handle: [ctx => files.asset(ctx)],
  };
  const pages: Route[] = [
    { method: 'get', path: '/app', handle: [requireSignIn, page] },
    { method: 'get', path: '/app/{*path}', handle: [requireSignIn, page] },
  ];
  return { assets, pages, service };
}
