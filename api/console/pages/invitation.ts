// The pages that an invitation's link opens: the code of the link, then who is invited into what,
// and one button. Owns their texts and the order of things.
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
/**
 * The token waits in a cookie while its owner signs in, perhaps with a second factor or at the
 * company.
 */
const REMEMBERED_MS = 30 * 60_000;

const GONE =
  'This invitation was used, was revoked, or is older than 7 days. If you have already joined, sign in. Otherwise, ask for a new link.';

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
  return parsed.success ? undefined : `It must be ${parsed.error.issues[0]!.message}.`;
};

function sendCodeForm(ctx: Context, publicUrl: string): void {
  const token = field({
    name: 'token',
    label: 'Invitation code',
    autocomplete: 'off',
    hint: 'What stands behind the # of the link that you were sent.',
    focus: true,
    maxLength: 400,
  });
  const body = markup`<p class="lead">to ${new URL(publicUrl).host}</p>${form(TOKEN_PAGE, [token], 'Continue')}`;
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
      body: markup`<p class="lead">${invitation.email} is invited as ${invitation.role}. ${ROLE_DESCRIPTIONS[invitation.role]}.</p>${rest}`,
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
        // For programs that keep passwords: whose this one is.
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
      markup`<p class="notice">You are signed in as ${email}, and the invitation is for another address.</p>${form(ACCEPT_PAGE, [hidden('as', 'somebody-else')], 'Sign out and go on')}`,
      403,
    );
  if (invited?.disabled)
    return sendInvitation(
      ctx,
      open,
      markup`<p class="notice">This person is disabled. Who runs this installation can help.</p>`,
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

export function invitationPages(
  auth: Auth,
  { store, invitations }: { store: Store; invitations: Invitations },
  route: ReturnType<typeof pageRoutes>,
): PageRoute[] {
  const { users, sessions, cookies, login, audit, publicUrl, newWithPassword } = auth;

  function gone(ctx: Context): void {
    cookies.clear(ctx, 'invitation');
    ctx.state.code = 'not_found';
    const body = markup`<p><a class="main-button" href="/app/sign-in">Sign in</a></p>
<p class="below"><a href="${TOKEN_PAGE}">Enter another code</a></p>`;
    sendPage(ctx, { title: 'Invitation no longer valid', error: GONE, body }, 404);
  }

  async function takeToken(ctx: Context): Promise<void> {
    // A whole link that was pasted does as well.
    const token = (await formBody(ctx.req)).get('token').trim().replace(/^.*#/, '');
    if (!(await invitations.find(token))) return gone(ctx);
    cookies.setPassing(ctx, 'invitation', token, REMEMBERED_MS);
    seeOther(ctx, ACCEPT_PAGE);
  }

  async function openOf(ctx: Context): Promise<OpenInvitation | undefined> {
    const token = cookies.passing(ctx, 'invitation');
    return token === undefined ? undefined : invitations.find(token);
  }

  async function look(ctx: Context): Promise<void> {
    const open = await openOf(ctx);
    if (!open) return gone(ctx);
    const signedIn = await login.signedIn(ctx);
    sendAcceptPage(
      auth,
      ctx,
      open,
      signedIn?.user.email,
      await users.byEmail(open.invitation.email),
    );
  }

  /** False when somebody else was quicker. */
  async function accept(ctx: Context, user: { _id: string; email: string }): Promise<boolean> {
    const open = await invitations.accept(cookies.passing(ctx, 'invitation') ?? '', user._id);
    if (!open) return false;
    cookies.clear(ctx, 'invitation');
    await audit.note(
      { account: open.account.id, user: user._id, actor: user.email, ip: login.ipOf(ctx) },
      { action: 'member.joined', target: user.email, details: { role: open.invitation.role } },
    );
    return true;
  }

  async function join(
    ctx: Context,
    open: OpenInvitation,
    name: string,
    password: string,
  ): Promise<void> {
    const wrong = {
      nameError: problem(schemas.name, name),
      passwordError: problem(schemas.password, password),
    };
    if (wrong.nameError || wrong.passwordError)
      return sendNewUserForm(ctx, open, { name, ...wrong }, 400);
    const user = await users.create({
      email: open.invitation.email,
      name: schemas.name.parse(name),
      password,
    });
    let joined = false;
    try {
      joined = await accept(ctx, user);
    } finally {
      // Without the invitation nobody vouches for the address.
      if (!joined)
        await store.limited(store.console.users.deleteOne({ _id: user._id }, store.limits));
    }
    if (!joined) return gone(ctx);
    await login.enter(ctx, user, 'invitation');
    seeOther(ctx, '/app');
  }

  async function submit(ctx: Context): Promise<void> {
    const sent = await formBody(ctx.req);
    const open = await openOf(ctx);
    if (!open) return gone(ctx);
    const signedIn = await login.signedIn(ctx);
    const invited = await users.byEmail(open.invitation.email);
    const as = sent.get('as');
    if (as === 'somebody-else' && signedIn) {
      await sessions.end(signedIn.user.id, signedIn.sessionId);
      cookies.clear(ctx, 'session');
    } else if (as === 'member' && signedIn?.user.email === open.invitation.email) {
      if (!(await accept(ctx, { _id: signedIn.user.id, email: signedIn.user.email })))
        return gone(ctx);
      return seeOther(ctx, '/app');
    } else if (as === 'new' && !signedIn && !invited && newWithPassword(open.invitation.email))
      return join(ctx, open, sent.get('name'), sent.get('password'));
    // What the form stood for is not so any more: the page as it is now.
    seeOther(ctx, ACCEPT_PAGE);
  }

  return [
    route('get', TOKEN_PAGE, ctx => sendCodeForm(ctx, publicUrl)),
    route('post', TOKEN_PAGE, takeToken),
    route('get', ACCEPT_PAGE, look),
    route('post', ACCEPT_PAGE, submit),
  ];
}
