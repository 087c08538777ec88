// The consent page, on which a user allows or denies an app to render on their behalf. Owns its
// texts; grants and consents are decided in oauth/.
import { type Markup, markup } from '../../../common/contract/markup.ts';
import type { Context } from '../../http/state.ts';
import type { Auth } from '../auth/auth.ts';
import { withNext } from '../html/next-path.ts';
import { hidden, type PageContext, seeOther, sendPage } from '../html/page.ts';
import type { PageRoute, pageRoutes } from '../html/page-route.ts';
import { formBody } from '../kit/form-body.ts';
import { consentPath } from '../kit/oauth-paths.ts';
import type { SignedIn } from '../kit/route.ts';
import { SCOPE } from '../oauth/access.ts';
import type { PendingConsent } from '../oauth/consents.ts';
import type { OAuthErrorFields } from '../oauth/error-redirects.ts';
import { appName } from '../oauth/grants.ts';
import type { OAuth } from '../oauth/oauth.ts';
import { isLoopback, redirectName } from '../oauth/redirects.ts';
import { UNREADABLE } from '../oauth/unreadable-documents.ts';

type Account = { id: string; name: string };

/** The host of a client metadata document is proven; the name in it is not. */
const provenHost = (clientId: string) =>
  clientId.startsWith('https://') ? URL.parse(clientId)?.host : undefined;

function appLabel({ clientId, clientName }: PendingConsent): Markup {
  const named =
    clientName === '' ? markup`An app without a name` : markup`An app named “${clientName}”`;
  const host = provenHost(clientId);
  return host === undefined ? named : markup`${named} (from <strong>${host}</strong>)`;
}

/** Chrome applies `form-action` to all redirects of a form, and this one redirects to the app. */
const REDIRECTS_TO_APP = { formAction: false };

const accountChoice = (accounts: readonly Account[]): Markup =>
  accounts.length === 1
    ? markup`${hidden('account', accounts[0]!.id)}<p>Its renders count toward the account <strong>${accounts[0]!.name}</strong>.</p>`
    : markup`<div class="field"><label for="account">Account</label>
<div><select id="account" name="account" required>${accounts.map(({ id, name }) => markup`<option value="${id}">${name}</option>`)}</select></div>
<p class="hint">Its renders count toward this account.</p></div>`;

function redirectSentence(uri: string): string {
  const { protocol, host } = new URL(uri);
  if (protocol === 'https:') return `You will be redirected to ${host}.`;
  return isLoopback(uri)
    ? `You will be redirected to an app on this computer (${host}).`
    : `You will be redirected to the app that opens ${protocol} links.`;
}

/** By error code. */
const MESSAGES: Partial<Record<string, string>> = {
  invalid_client:
    'The app is not registered with this installation. Remove the connection in the app and add it again.',
  invalid_redirect_uri:
    'The app uses a redirect URI that it did not register. Remove the connection in the app and add it again.',
  temporarily_unavailable:
    'The database is temporarily unavailable. Wait a few seconds and reload this page.',
  server_error: 'An internal error occurred. Go back to the app and try again.',
};
const OTHER_MESSAGE =
  'The app sent an invalid authorization request. Go back to the app and try again.';
const UNREADABLE_MESSAGE =
  'Could not read the client metadata document of the app. Try again. If it happens again, contact your administrator. The reason is in the log.';

/** The page for an error that the OAuth server cannot send to the app. `back`: link to the app. */
export function showOAuthError(
  ctx: PageContext,
  { error, error_description: description }: OAuthErrorFields,
  back: string | undefined,
) {
  const isServerError = error === 'server_error' || error === 'temporarily_unavailable';
  const detail =
    description && !isServerError
      ? markup`<p class="hint">${error}: ${description}</p>`
      : undefined;
  const link =
    back &&
    markup`<p><a href="${back}" rel="noreferrer">Back to the app (${redirectName(back)})</a></p>`;
  const body = markup`${detail}${link}<p class="below"><a href="/app">Go to the dashboard</a></p>`;
  const message = UNREADABLE.test(description ?? '')
    ? UNREADABLE_MESSAGE
    : (MESSAGES[error] ?? OTHER_MESSAGE);
  sendPage(
    ctx,
    { title: 'Could not connect the app', error: message, body },
    ctx.status >= 400 ? ctx.status : 400,
  );
}

/** What the steps share. */
interface ConsentFlow
  extends Pick<Auth, 'sessions' | 'cookies' | 'audit' | 'login' | 'publicUrl'>,
    Pick<OAuth, 'consents' | 'grants'> {}

const uidOf = (ctx: Context) => (ctx as Context & { params: { uid: string } }).params.uid;

const sendGone = (ctx: Context) =>
  sendPage(
    ctx,
    {
      title: 'Request no longer valid',
      error:
        'This request was already answered, has expired (after 1 hour), or was started in another browser.',
      body: markup`<p>Go back to the app and connect it again.</p><p class="below"><a href="/app">Go to the dashboard</a></p>`,
    },
    410,
  );

async function sendForm(
  { grants, publicUrl }: ConsentFlow,
  ctx: Context,
  asking: PendingConsent,
  { user }: SignedIn,
  error?: string,
  status = 200,
): Promise<void> {
  const accounts = await grants.accountsOf(user.id);
  const allow = markup`${accountChoice(accounts)}
<p>It will be able to: <strong>render PDFs</strong> (<code>${SCOPE}</code>). It cannot see your API keys, logs or team. You can disconnect it in your profile at any time.</p>
<p><button class="main-button" name="answer" value="allow">Allow</button></p>`;
  const noAccount = markup`<p class="notice">You do not have permission to render in any account. Ask an owner or admin of your account for the Developer role.</p>`;
  const body = markup`<p>${appLabel(asking)} wants to create PDFs on your behalf.</p>
<p>${redirectSentence(asking.redirectUri)} Continue only if you started this request.</p>
<form method="post" action="${consentPath(uidOf(ctx))}">
${hidden('user', user.id)}
${accounts.length === 0 ? noAccount : allow}
<p><button class="main-button quiet" name="answer" value="cancel">Cancel</button></p>
<p class="below hint">You are signed in as ${user.email}. <button class="as-link" name="answer" value="other">Use a different account</button></p>
</form>`;
  sendPage(
    ctx,
    { title: 'Connect an app', lead: `to ${new URL(publicUrl).host}`, error, body },
    status,
    REDIRECTS_TO_APP,
  );
}

/** GET: the request of the app. */
async function showRequest(flow: ConsentFlow, ctx: Context): Promise<void> {
  const asking = await flow.consents.find(ctx.req, ctx.res, uidOf(ctx));
  if (!asking) return sendGone(ctx);
  const signedIn = await flow.login.signedIn(ctx);
  if (!signedIn) return ctx.redirect(withNext('/app/sign-in', ctx.path));
  await sendForm(flow, ctx, asking, signedIn);
}

/** POST: allows or denies, or signs out to use a different account. */
async function submitAnswer(flow: ConsentFlow, ctx: Context): Promise<void> {
  const sent = await formBody(ctx.req);
  const asking = await flow.consents.find(ctx.req, ctx.res, uidOf(ctx));
  if (!asking) return sendGone(ctx);
  const signedIn = await flow.login.signedIn(ctx);
  if (!signedIn) return seeOther(ctx, withNext('/app/sign-in', ctx.path));
  // Another user has signed in since the page was shown, which named the first one.
  if (sent.get('user') !== signedIn.user.id)
    return sendForm(
      flow,
      ctx,
      asking,
      signedIn,
      'You are now signed in as a different user. Review the request again.',
      409,
    );
  if (sent.get('answer') === 'other') return signOut(flow, ctx, signedIn);
  if (sent.get('answer') !== 'allow')
    return seeOther(ctx, await flow.consents.deny(ctx.req, ctx.res));
  await allow(flow, ctx, asking, signedIn, sent.get('account'));
}

async function allow(
  flow: ConsentFlow,
  ctx: Context,
  asking: PendingConsent,
  signedIn: SignedIn,
  accountId: string,
): Promise<void> {
  const { consents, grants, audit, login } = flow;
  const { id: user, email } = signedIn.user;
  const account = (await grants.accountsOf(user)).find(({ id }) => id === accountId);
  if (!account)
    return sendForm(
      flow,
      ctx,
      asking,
      signedIn,
      'You no longer have permission to render in this account.',
      403,
    );
  const onward = await consents.allow(ctx.req, ctx.res, asking, { user, account: account.id });
  await audit.note(
    { account: account.id, user, actor: email, ip: login.ipOf(ctx) },
    {
      action: 'app.connected',
      target: appName(asking),
      details: {
        client: asking.clientId.slice(0, 200),
        redirect: redirectName(asking.redirectUri),
      },
    },
  );
  seeOther(ctx, onward);
}

/** The next user who signs in gets the same request. */
async function signOut(
  { sessions, cookies, audit, login }: ConsentFlow,
  ctx: Context,
  { user: { id: user, email }, sessionId }: SignedIn,
): Promise<void> {
  await sessions.end(user, sessionId);
  cookies.clear(ctx, 'session');
  await audit.note({ user, actor: email, ip: login.ipOf(ctx) }, { action: 'person.signed_out' });
  seeOther(ctx, withNext('/app/sign-in', ctx.path));
}

export function consentPages(
  { sessions, cookies, audit, login, publicUrl }: Auth,
  { consents, grants }: OAuth,
  route: ReturnType<typeof pageRoutes>,
): PageRoute[] {
  const flow: ConsentFlow = { sessions, cookies, audit, login, publicUrl, consents, grants };
  return [
    route('get', consentPath(':uid'), ctx => showRequest(flow, ctx)),
    route('post', consentPath(':uid'), ctx => submitAnswer(flow, ctx)),
  ];
}
