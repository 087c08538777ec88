// The routes of single sign-on, and the page that shows why a sign-in failed.
import type { ErrorCode } from '../../../common/contract/errors.ts';
import { markup } from '../../../common/contract/markup.ts';
import type { Log } from '../../../common/log.ts';
import type { Context } from '../../http/state.ts';
import type { Store } from '../../store/store.ts';
import type { Auth } from '../auth/auth.ts';
import { leadsToConsent } from '../html/consent-flow.ts';
import { nextPath, withNext } from '../html/next-path.ts';
import { sendPage } from '../html/page.ts';
import type { PageRoute, pageRoutes } from '../html/page-route.ts';
import type { IdentityProvider } from '../sso/identity-provider.ts';
import type { SsoConfig } from '../sso/sso-config.ts';
import { SsoError } from '../sso/sso-error.ts';
import { SsoUsers } from '../sso/sso-users.ts';
import type { Teams } from '../users/teams.ts';
import { showSsoLink, submitSsoLink } from './sso-link.ts';
import { finishSsoSignIn, SSO_LINK_PATH, type SsoSignIn, startSsoSignIn } from './sso-sign-in.ts';
import { createSsoStateCookie, type SsoStateCookie } from './sso-state.ts';

const CODES: Record<number, ErrorCode> = {
  400: 'validation_error',
  403: 'forbidden',
  409: 'conflict',
};

interface Deps {
  auth: Auth;
  store: Store;
  teams: Teams;
  publicUrl: string;
  secret: string;
  log: Log;
  /** Without it the pages do not exist. */
  sso: SsoConfig | undefined;
}

type Handler = (ctx: Context) => Promise<void>;

/** The provider; its library is loaded at the first call. */
function lazyProvider(
  config: SsoConfig,
  publicUrl: string,
  log: Log,
): () => Promise<IdentityProvider> {
  let loading: Promise<IdentityProvider> | undefined;
  return () => {
    loading ??= import('../sso/identity-provider.ts').then(({ createIdentityProvider }) =>
      createIdentityProvider({ config, publicUrl, log }),
    );
    return loading;
  };
}

/** Shows an SsoError as a page, and logs what an operator must fix. */
const withErrorPage =
  (state: SsoStateCookie, log: Log, handle: Handler): Handler =>
  async ctx => {
    try {
      await handle(ctx);
    } catch (error) {
      if (!(error instanceof SsoError)) throw error;
      const { requestId } = ctx.state;
      if (error.details)
        log[error.status >= 500 ? 'error' : 'warn'](
          { requestId, ...error.details },
          'SSO sign-in failed',
        );
      if (CODES[error.status]) ctx.state.code = CODES[error.status]!;
      // The URL of the callback does not contain the path after the sign-in.
      const next = state.read(ctx)?.next ?? nextPath(ctx.query['next']);
      const body = markup`<p><a class="main-button" href="${withNext('/app/sign-in/company', next)}">Try again</a></p>
<p class="below"><a href="${withNext('/app/sign-in', next)}">Other ways to sign in</a></p>
<p class="hint">Request ID: ${requestId}</p>`;
      sendPage(ctx, { title: 'Sign-in failed', error: error.message, body }, error.status, {
        opener: leadsToConsent(next),
      });
    }
  };

export function ssoPages(
  { sso: config, auth, store, teams, publicUrl, secret, log }: Deps,
  route: ReturnType<typeof pageRoutes>,
): PageRoute[] {
  if (!config) return [];
  const { users, audit, cookies } = auth;
  const sso: SsoSignIn = {
    auth,
    name: config.name,
    ssoUsers: new SsoUsers({ config, store, users, teams, audit, log }),
    state: createSsoStateCookie(cookies, secret),
    provider: lazyProvider(config, publicUrl, log),
  };
  const handle = (step: (sso: SsoSignIn, ctx: Context) => Promise<void>) =>
    withErrorPage(sso.state, log, ctx => step(sso, ctx));
  return [
    route('get', '/app/sign-in/company', handle(startSsoSignIn)),
    route('get', '/app/sign-in/company/callback', handle(finishSsoSignIn)),
    route('get', SSO_LINK_PATH, handle(showSsoLink)),
    route('post', SSO_LINK_PATH, handle(submitSsoLink)),
  ];
}
