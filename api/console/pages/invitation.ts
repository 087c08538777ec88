// The pages of an invitation link: the code of the link, then the invitation with one button. Owns
// their texts and the order of the steps.
import { type Markup, markup } from '../../../common/contract/markup.ts';
import type { Context } from '../../http/state.ts';
import type { Store, UserDocument } from '../../store/store.ts';
import type { Auth } from '../auth/auth.ts';
import { nameText } from '../contract/common.ts';
import { ROLE_DESCRIPTIONS } from '../contract/permissions.ts';
import { newPassword } from '../contract/users.ts';
import { withNext } from '../html/next-path.ts';
import { field, form, hidden, seeOther, sendPage } from '../html/page.ts';
import type { PageRoute, pageRoutes } from '../html/page-route.ts';
import { formBody } from '../kit/form-body.ts';
import type { Invitations, OpenInvitation } from '../users/invitations.ts';
import { nameField, newPasswordField } from './new-user.ts';

const TOKEN_PAGE = '/app/invitation';
const ACCEPT_PAGE = '/app/invitation/accept';
/** The token stays in a cookie while the user signs in, perhaps with a second factor or by SSO. */
const TOKEN_COOKIE_MS = 30 * 60_000;

const GONE =
  'This invitation was already used, was revoked, or has expired (after 7 days). If you already joined, sign in. Otherwise, ask for a new link.';

/** What the steps share. */
interface InvitationFlow {
  auth: Auth;
  store: Store;
  invitations: Invitations;
}

interface Typed {
  name?: string;
  nameError?: string | undefined;
  passwordError?: string | undefined;
}

const schemas = { name: nameText(), password: newPassword };
const problem = (
  schema: (typeof schemas)['name'] | typeof newPassword,
  value: string,
): string | undefined => {
  const parsed = schema.safeParse(value);
  return parsed.success ? undefined : `Must be ${parsed.error.issues[0]!.message}.`;
};

/** GET of the link: the form for its code, which the script fills in. */
function sendCodeForm({ auth }: InvitationFlow, ctx: Context): void {
  const token = field({
    name: 'token',
    label: 'Invitation code',
    autocomplete: 'off',
    hint: 'The part after # in your invitation link.',
    focus: true,
    maxLength: 400,
  });
  const body = markup`<p class="lead">to ${new URL(auth.publicUrl).host}</p>${form(TOKEN_PAGE, [token], 'Continue')}`;
  sendPage(ctx, { title: 'Your invitation', body });
}

const sendInvitation = (
  ctx: Context,
  { account, invitation }: OpenInvitation,
  rest: Markup,
  status = 200,
) =>
  sendPage(
    ctx,
    {
      title: `Join ${account.name}`,
      body: markup`<p class="lead">${invitation.email} is invited with the role ${invitation.role}. Permissions: ${ROLE_DESCRIPTIONS[invitation.role]}.</p>${rest}`,
    },
    status,
  );

const sendNewUserForm = (
  ctx: Context,
  open: OpenInvitation,
  { name, nameError, passwordError }: Typed = {},
  status = 200,
) =>
  sendInvitation(
    ctx,
    open,
    markup`${form(
      ACCEPT_PAGE,
      [
        hidden('as', 'new'),
        // Password managers store it with the password.
        markup`<input type="hidden" name="username" autocomplete="username" value="${open.invitation.email}">`,
        nameField({ value: name, error: nameError, focus: !passwordError }),
        newPasswordField({
          error: passwordError,
          focus: passwordError !== undefined && nameError === undefined,
        }),
      ],
      'Join',
    )}`,
    status,
  );

/** `email`: of the signed-in user; `invited`: the existing user of the invited address. */
function sendAcceptPage(
  { sso, newWithPassword }: Auth,
  ctx: Context,
  open: OpenInvitation,
  email: string | undefined,
  invited: UserDocument | undefined,
): void {
  if (email === open.invitation.email)
    return sendInvitation(
      ctx,
      open,
      markup`<p>You are signed in as ${email}.</p>${form(ACCEPT_PAGE, [hidden('as', 'member')], 'Accept')}`,
    );
  if (email !== undefined)
    return sendInvitation(
      ctx,
      open,
      markup`<p class="notice">You are signed in as ${email}, but this invitation is for another address.</p>${form(ACCEPT_PAGE, [hidden('as', 'other-user')], 'Sign out and continue')}`,
      403,
    );
  if (invited?.disabled)
    return sendInvitation(
      ctx,
      open,
      markup`<p class="notice">Your login is disabled. Ask your administrator to enable it.</p>`,
      403,
    );
  if (invited)
    return sendInvitation(
      ctx,
      open,
      markup`<p><a class="main-button" href="${withNext('/app/sign-in', ACCEPT_PAGE)}">Sign in to accept</a></p>`,
    );
  if (sso && !newWithPassword(open.invitation.email))
    return sendInvitation(
      ctx,
      open,
      markup`<p><a class="main-button" href="${withNext('/app/sign-in/company', ACCEPT_PAGE)}">${sso.name}</a></p>`,
    );
  sendNewUserForm(ctx, open);
}

function sendGone({ auth: { cookies } }: InvitationFlow, ctx: Context): void {
  cookies.clear(ctx, 'invitation');
  ctx.state.code = 'not_found';
  const body = markup`<p><a class="main-button" href="/app/sign-in">Sign in</a></p>
<p class="below"><a href="${TOKEN_PAGE}">Enter another code</a></p>`;
  sendPage(ctx, { title: 'Invitation no longer valid', error: GONE, body }, 404);
}

/**
 * POST of the code: keeps it in a cookie and redirects to the invitation, also for a code without
 * one. At the URL of the code form, a link opened in the same tab would not load its page.
 */
async function submitCode({ auth, invitations }: InvitationFlow, ctx: Context): Promise<void> {
  // A whole link may be pasted instead of the code.
  const token = (await formBody(ctx.req)).get('token').trim().replace(/^.*#/, '');
  if (await invitations.find(token))
    auth.cookies.setPassing(ctx, 'invitation', token, TOKEN_COOKIE_MS);
  else auth.cookies.clear(ctx, 'invitation');
  seeOther(ctx, ACCEPT_PAGE);
}

/** The invitation of the cookie. */
async function openInvitation(
  { auth: { cookies }, invitations }: InvitationFlow,
  ctx: Context,
): Promise<OpenInvitation | undefined> {
  const token = cookies.passing(ctx, 'invitation');
  return token === undefined ? undefined : invitations.find(token);
}

/** GET: the invitation, with the button or the form that fits the signed-in user. */
async function showInvitation(flow: InvitationFlow, ctx: Context): Promise<void> {
  const { auth } = flow;
  const open = await openInvitation(flow, ctx);
  if (!open) return sendGone(flow, ctx);
  const signedIn = await auth.login.signedIn(ctx);
  const invited = await auth.users.byEmail(open.invitation.email);
  sendAcceptPage(auth, ctx, open, signedIn?.user.email, invited);
}

/** POST: signs out, accepts as the signed-in user, or creates the user. */
async function submitAnswer(flow: InvitationFlow, ctx: Context): Promise<void> {
  const { users, sessions, cookies, login, newWithPassword } = flow.auth;
  const sent = await formBody(ctx.req);
  const open = await openInvitation(flow, ctx);
  if (!open) return sendGone(flow, ctx);
  const signedIn = await login.signedIn(ctx);
  const invited = await users.byEmail(open.invitation.email);
  const as = sent.get('as');
  if (as === 'other-user' && signedIn) {
    await sessions.end(signedIn.user.id, signedIn.sessionId);
    cookies.clear(ctx, 'session');
  } else if (as === 'member' && signedIn?.user.email === open.invitation.email) {
    if (!(await accept(flow, ctx, { _id: signedIn.user.id, email: signedIn.user.email })))
      return sendGone(flow, ctx);
    return seeOther(ctx, '/app');
  } else if (as === 'new' && !signedIn && !invited && newWithPassword(open.invitation.email))
    return join(flow, ctx, open, sent.get('name'), sent.get('password'));
  // The form no longer fits, for example after a sign-in in another tab: show the current page.
  seeOther(ctx, ACCEPT_PAGE);
}

/** False when another request has used the invitation. */
async function accept(
  { auth: { cookies, audit, login }, invitations }: InvitationFlow,
  ctx: Context,
  user: { _id: string; email: string },
): Promise<boolean> {
  const open = await invitations.accept(cookies.passing(ctx, 'invitation') ?? '', user._id);
  if (!open) return false;
  cookies.clear(ctx, 'invitation');
  await audit.note(
    { account: open.account.id, user: user._id, actor: user.email, ip: login.ipOf(ctx) },
    { action: 'member.joined', target: user.email, details: { role: open.invitation.role } },
  );
  return true;
}

/** Creates the user, accepts, and signs in. */
async function join(
  flow: InvitationFlow,
  ctx: Context,
  open: OpenInvitation,
  name: string,
  password: string,
): Promise<void> {
  const { store } = flow;
  const { users, login } = flow.auth;
  const errors = {
    nameError: problem(schemas.name, name),
    passwordError: problem(schemas.password, password),
  };
  if (errors.nameError || errors.passwordError)
    return sendNewUserForm(ctx, open, { name, ...errors }, 400);
  const user = await users.create({
    email: open.invitation.email,
    name: schemas.name.parse(name),
    password,
  });
  let joined = false;
  try {
    joined = await accept(flow, ctx, user);
  } finally {
    // Only the invitation proves the address: without it the user must not exist.
    if (!joined)
      await store.limited(store.console.users.deleteOne({ _id: user._id }, store.limits));
  }
  if (!joined) return sendGone(flow, ctx);
  await login.openSession(ctx, user, 'invitation');
  seeOther(ctx, '/app');
}

export function invitationPages(
  flow: InvitationFlow,
  route: ReturnType<typeof pageRoutes>,
): PageRoute[] {
  return [
    route('get', TOKEN_PAGE, ctx => sendCodeForm(flow, ctx)),
    route('post', TOKEN_PAGE, ctx => submitCode(flow, ctx)),
    route('get', ACCEPT_PAGE, ctx => showInvitation(flow, ctx)),
    route('post', ACCEPT_PAGE, ctx => submitAnswer(flow, ctx)),
  ];
}
