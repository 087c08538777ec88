// The page on which a person allows an app to render in their name, or does not. Owns its texts;
// what a consent is, is decided elsewhere.
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
import type { Asking } from '../oauth/consents.ts';
import { appName } from '../oauth/grants.ts';
import type { OAuth } from '../oauth/oauth.ts';
import { redirectLabel, redirectName } from '../oauth/redirects.ts';
import type { OAuthErrorFields } from '../oauth/refused-requests.ts';
import { UNREADABLE } from '../oauth/unreadable-documents.ts';

type Account = { id: string; name: string };

/** A document's address is a name that the app has proved; what it calls itself it has not. */
const provenHost = (clientId: string) =>
  clientId.startsWith('https://') ? URL.parse(clientId)?.host : undefined;

/**
 * Chrome checks `form-action` along all redirects of a form's answer, and this one leads to the
 * app.
 */
const TO_THE_APP = { formAction: false };

const chosen = (accounts: readonly Account[]): Markup =>
  accounts.length === 1
    ? markup`${hidden('account', accounts[0]!.id)}<p>It renders in the account <strong>${accounts[0]!.name}</strong>, and its renders count there.</p>`
    : markup`<div class="field"><label for="account">Account</label>
<div><select id="account" name="account" required>${accounts.map(({ id, name }) => markup`<option value="${id}">${name}</option>`)}</select></div>
<p class="hint">It renders in this account, and its renders count there.</p></div>`;

/** By the error's code. */
const MESSAGES: Partial<Record<string, string>> = {
  invalid_client:
    'This installation does not know the app that sent you. Remove the connection in the app and add it again.',
  invalid_redirect_uri:
    'The app wants the answer at an address that it did not name before. Remove the connection in the app and add it again.',
  temporarily_unavailable:
    'The database of this installation does not answer. Wait a few seconds and load this page again.',
  server_error: 'Something went wrong on our side. Go back to the app and try again.',
};
const OTHER_MESSAGE =
  'The app asked for something that cannot be done here. Go back to it and try again.';
const UNREADABLE_MESSAGE =
  'This installation cannot read what the app says of itself at its address. Try again; if it stays so, whoever runs this installation can tell why by the log.';

/**
 * The page of an error of the OAuth server that cannot redirect to the app. `back`: the link to the
 * app.
 */
export function showOAuthError(
  ctx: PageContext,
  { error, error_description: description }: OAuthErrorFields,
  back: string | undefined,
) {
  const ours = error === 'server_error' || error === 'temporarily_unavailable';
  const detail =
    description && !ours ? markup`<p class="hint">${error}: ${description}</p>` : undefined;
  const link =
    back &&
    markup`<p><a href="${back}" rel="noreferrer">Back to the app (${redirectName(back)})</a></p>`;
  const body = markup`${detail}${link}<p class="below"><a href="/app">To the dashboard</a></p>`;
  const message = UNREADABLE.test(description ?? '')
    ? UNREADABLE_MESSAGE
    : (MESSAGES[error] ?? OTHER_MESSAGE);
  sendPage(
    ctx,
    { title: 'The app could not be connected', error: message, body },
    ctx.status >= 400 ? ctx.status : 400,
  );
}

export function consentPages(
  {
    sessions,
    cookies,
    audit,
    login,
    publicUrl,
  }: Pick<Auth, 'sessions' | 'cookies' | 'audit' | 'login' | 'publicUrl'>,
  { consents, grants }: Pick<OAuth, 'consents' | 'grants'>,
  route: ReturnType<typeof pageRoutes>,
): PageRoute[] {
  const host = new URL(publicUrl).host;
  const uidOf = (ctx: Context) => (ctx as Context & { params: { uid: string } }).params.uid;

  const gone = (ctx: Context) =>
    sendPage(
      ctx,
      {
        title: 'Start again in the app',
        error:
          'This was answered already, took longer than an hour, or was begun in another browser.',
        body: markup`<p>Go back to the app and connect it once more.</p><p class="below"><a href="/app">To the dashboard</a></p>`,
      },
      410,
    );

  async function show(
    ctx: Context,
    asking: Asking,
    { user }: SignedIn,
    error?: string,
    status = 200,
  ): Promise<void> {
    const accounts = await grants.accountsOf(user.id);
    const proven = provenHost(asking.clientId);
    const who =
      asking.clientName === ''
        ? 'An app that says no name'
        : markup`An app that calls itself “${asking.clientName}”`;
    const may = markup`${chosen(accounts)}
<p>It may: <strong>render PDFs</strong> (<code>${SCOPE}</code>). It does not see keys, the log or the team. You can disconnect it in your profile at any time.</p>
<p><button class="main-button" name="answer" value="allow">Allow</button></p>`;
    const none = markup`<p class="notice">There is no account in which you may render, so you cannot allow it. Ask an owner or admin of your account for the role of a developer.</p>`;
    const body = markup`<p>${who}${proven === undefined ? undefined : markup` (from <strong>${proven}</strong>)`} asks to make PDFs in your name.</p>
<p>The answer goes to it ${redirectLabel(asking.redirectUri)}. Go on only if you have just connected it yourself.</p>
<form method="post" action="${consentPath(uidOf(ctx))}">
${hidden('user', user.id)}
${accounts.length === 0 ? none : may}
<p><button class="main-button quiet" name="answer" value="cancel">Cancel</button></p>
<p class="below hint">You are signed in as ${user.email}. <button class="as-link" name="answer" value="other">Sign in as somebody else</button></p>
</form>`;
    sendPage(ctx, { title: 'Connect an app', lead: `to ${host}`, error, body }, status, TO_THE_APP);
  }

  async function look(ctx: Context): Promise<void> {
    const asking = await consents.find(ctx.req, ctx.res, uidOf(ctx));
    if (!asking) return gone(ctx);
    const signedIn = await login.signedIn(ctx);
    if (!signedIn) return ctx.redirect(withNext('/app/sign-in', ctx.path));
    await show(ctx, asking, signedIn);
  }

  /** The person signs out, and who signs in next is asked the same. */
  async function leave(
    ctx: Context,
    { user: { id: user, email }, sessionId }: SignedIn,
  ): Promise<void> {
    await sessions.end(user, sessionId);
    cookies.clear(ctx, 'session');
    await audit.note({ user, actor: email, ip: login.ipOf(ctx) }, { action: 'person.signed_out' });
    seeOther(ctx, withNext('/app/sign-in', ctx.path));
  }

  async function submit(ctx: Context): Promise<void> {
    const sent = await formBody(ctx.req);
    const asking = await consents.find(ctx.req, ctx.res, uidOf(ctx));
    if (!asking) return gone(ctx);
    const signedIn = await login.signedIn(ctx);
    if (!signedIn) return seeOther(ctx, withNext('/app/sign-in', ctx.path));
    // Somebody else has signed in since the page was shown: what it said is not theirs.
    if (sent.get('user') !== signedIn.user.id)
      return show(
        ctx,
        asking,
        signedIn,
        'Somebody else has signed in here meanwhile. Look at it again.',
        409,
      );
    if (sent.get('answer') === 'other') return leave(ctx, signedIn);
    if (sent.get('answer') !== 'allow') return seeOther(ctx, await consents.deny(ctx.req, ctx.res));
    const { id: user, email } = signedIn.user;
    const account = (await grants.accountsOf(user)).find(({ id }) => id === sent.get('account'));
    if (!account)
      return show(ctx, asking, signedIn, 'You may not render in that account any more.', 403);
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

  return [route('get', consentPath(':uid'), look), route('post', consentPath(':uid'), submit)];
}
