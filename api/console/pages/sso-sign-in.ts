// A sign-in through the identity provider: redirect to it, callback from it, session.
import { markup } from '../../../common/contract/markup.ts';
import type { Context } from '../../http/state.ts';
import type { UserDocument } from '../../store/store.ts';
import type { Auth } from '../auth/auth.ts';
import { leadsToConsent } from '../html/consent-flow.ts';
import { nextPath } from '../html/next-path.ts';
import { seeOther, sendPage } from '../html/page.ts';
import type { IdentityProvider } from '../sso/identity-provider.ts';
import { beginAgain } from '../sso/sso-error.ts';
import type { SsoUsers } from '../sso/sso-users.ts';
import type { SsoStateCookie } from './sso-state.ts';

export const SSO_LINK_PATH = '/app/sign-in/company/link';

/** What the pages of single sign-on share. */
export interface SsoSignIn {
  auth: Auth;
  /** The label of the button. */
  name: string;
  ssoUsers: SsoUsers;
  state: SsoStateCookie;
  /** Loads the OpenID Connect library at the first sign-in. */
  provider(): Promise<IdentityProvider>;
}

/** GET /app/sign-in/company: redirects to the provider. */
export async function startSsoSignIn(
  { auth, state, provider }: SsoSignIn,
  ctx: Context,
): Promise<void> {
  // Otherwise the first SSO user would end the setup without being an operator.
  if (await auth.setup.needed()) return ctx.redirect('/app/setup');
  const { url, begun } = await (await provider()).begin();
  state.begin(ctx, begun, nextPath(ctx.query['next']));
  seeOther(ctx, url.href);
}

/** GET /app/sign-in/company/callback: the provider's response. */
export async function finishSsoSignIn(sso: SsoSignIn, ctx: Context): Promise<void> {
  const { auth, state, provider, ssoUsers } = sso;
  const begun = state.require(ctx, 'begun');
  const query = new URLSearchParams(ctx.querystring);
  // A callback of another sign-in, opened in this browser, must not end the one started here.
  if (query.get('state') !== begun.state) throw beginAgain();
  // A cookie can be sent many times, and each callback makes a call to the provider.
  await auth.limits.ssoCallback(auth.login.ipOf(ctx));
  state.clear(ctx);
  const claims = await (await provider()).finish(query, begun);
  if (await auth.setup.needed()) return ctx.redirect('/app/setup');
  const found = await ssoUsers.userOf(claims, auth.login.ipOf(ctx));
  if (found.kind === 'known') return completeSsoSignIn(sso, ctx, found.user, begun.next);
  state.askForProof(
    ctx,
    { user: found.user._id, identity: found.identity, id: begun.state },
    begun.next,
  );
  seeOther(ctx, SSO_LINK_PATH);
}

/** Opens the session and redirects to `next`; a user without an account gets a page instead. */
export async function completeSsoSignIn(
  { auth, ssoUsers }: SsoSignIn,
  ctx: Context,
  user: UserDocument,
  next: string,
): Promise<void> {
  const isMember = await ssoUsers.arrived(user, auth.login.ipOf(ctx));
  await auth.login.openSession(ctx, user, 'company');
  // An invitation makes the user a member, and an app that asked for consent must get a response.
  if (isMember || user.operator || next.startsWith('/app/invitation') || leadsToConsent(next))
    return seeOther(ctx, next);
  const body = markup`<p>You are signed in as ${user.email}, but you are not a member of any account yet. Ask for an invitation to this address, then open its link in this browser.</p>
<p><a class="main-button quiet" href="/app">Go to the dashboard</a></p>`;
  sendPage(ctx, { title: `Welcome, ${user.name}`, body });
}
