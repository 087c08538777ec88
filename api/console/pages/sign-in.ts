// The page for signing in with email and password. Owns its texts; rate limits and sessions are
// decided elsewhere.
import { subscriberOf } from '../../../common/addresses.ts';
import { type Markup, markup } from '../../../common/contract/markup.ts';
import type { Context } from '../../http/state.ts';
import type { Auth } from '../auth/auth.ts';
import { MAX_EMAIL } from '../contract/common.ts';
import { MAX_PASSWORD } from '../contract/users.ts';
import { nextPath, withNext } from '../html/next-path.ts';
import { field, form, seeOther, sendPage } from '../html/page.ts';
import { asThrottled, type PageRoute, type pageRoutes } from '../html/page-route.ts';
import { formBody } from '../kit/form-body.ts';
import type { PasswordCaller } from '../security/passwords.ts';
import { normalEmail } from '../users/users.ts';
import { otherHost } from './other-host.ts';

interface Shown {
  next: string;
  email?: string;
  error?: string;
  emailError?: string;
  passwordError?: string;
}

/**
 * The button of the single sign-on and the password form. Where only operators have passwords, the
 * button comes first.
 */
function signInMethods({ sso, passwordSignIn }: Auth, next: string, passwordForm: Markup): Markup {
  if (!sso) return passwordForm;
  const button = (kind: string) =>
    markup`<p><a class="main-button${kind}" href="${withNext('/app/sign-in/company', next)}">${sso.name}</a></p>`;
  return passwordSignIn
    ? markup`${passwordForm}<p class="or">or</p>${button(' quiet')}`
    : markup`${button('')}<p class="or">for administrators</p>${passwordForm}`;
}

function sendSignInPage(
  auth: Auth,
  ctx: Context,
  { next, email, error, emailError, passwordError }: Shown,
  status = 200,
): void {
  const { publicUrl, passwordSignIn } = auth;
  const wrongEmail = emailError !== undefined;
  const passwordForm = form(
    withNext('/app/sign-in', next),
    [
      field({
        name: 'email',
        label: 'Email',
        type: 'email',
        autocomplete: 'username',
        value: email,
        error: emailError,
        focus: wrongEmail || (passwordSignIn && !email),
        maxLength: MAX_EMAIL,
      }),
      field({
        name: 'password',
        label: 'Password',
        type: 'password',
        autocomplete: 'current-password',
        error: passwordError,
        focus: !wrongEmail && Boolean(email),
        maxLength: MAX_PASSWORD,
      }),
    ],
    'Sign in',
  );
  const body = markup`${signInMethods(auth, next, passwordForm)}
<p class="below hint">Forgot your password? Ask your administrator to reset it.</p>`;
  sendPage(
    ctx,
    {
      title: 'Sign in',
      lead: `to ${new URL(publicUrl).host}`,
      error: error ?? otherHost(ctx, publicUrl),
      body,
    },
    status,
  );
}

export function signInPages(auth: Auth, route: ReturnType<typeof pageRoutes>): PageRoute[] {
  const { users, passwords, limits, devices, login, pendingTwoFactor, setup, sso, passwordSignIn } =
    auth;

  async function open(ctx: Context): Promise<void> {
    const next = nextPath(ctx.query['next']);
    if (await login.signedIn(ctx)) return ctx.redirect(next);
    if (await setup.needed()) return ctx.redirect('/app/setup');
    sendSignInPage(auth, ctx, { next });
  }

  async function submit(ctx: Context): Promise<void> {
    const next = nextPath(ctx.query['next']);
    const sent = await formBody(ctx.req);
    const email = normalEmail(sent.get('email'));
    const password = sent.get('password');
    if (email === '')
      return sendSignInPage(auth, ctx, { next, emailError: 'Enter your email address.' }, 400);
    if (email.length > MAX_EMAIL)
      return sendSignInPage(
        auth,
        ctx,
        { next, emailError: `An email address can have at most ${MAX_EMAIL} characters.` },
        400,
      );
    if (password === '')
      return sendSignInPage(auth, ctx, { next, email, passwordError: 'Enter your password.' }, 400);

    const user = await users.byEmail(email);
    const attempt = { email, ip: login.ipOf(ctx), device: devices.known(ctx, user?._id) };
    const caller: PasswordCaller =
      user && attempt.device !== undefined
        ? { kind: 'known', id: user._id }
        : { kind: 'unknown', id: subscriberOf(attempt.ip) };
    let good: boolean;
    try {
      passwords.checkCapacity(caller);
      await limits.password(attempt);
      good = await passwords.verify(user?.password, password.slice(0, MAX_PASSWORD + 1), caller);
    } catch (error) {
      const { message, status } = asThrottled(ctx, error);
      return sendSignInPage(auth, ctx, { next, email, error: message }, status);
    }
    if (!good || !user || user.disabled) {
      ctx.state.code = 'unauthorized';
      return sendSignInPage(
        auth,
        ctx,
        { next, email, error: 'Incorrect email address or password.' },
        401,
      );
    }
    await limits.passwordWasRight(attempt);
    // Operators keep their passwords: otherwise they could not fix a broken SSO.
    if (!passwordSignIn && !user.operator) {
      ctx.state.code = 'forbidden';
      const error = `Password sign-in is turned off. Use ${sso ? `“${sso.name}”` : 'SSO'} instead.`;
      return sendSignInPage(auth, ctx, { next, email, error }, 403);
    }
    if (user.twoFactor) {
      pendingTwoFactor.begin(ctx, user, 'password');
      return seeOther(ctx, withNext('/app/sign-in/code', next));
    }
    await login.openSession(ctx, user, 'password');
    seeOther(ctx, next);
  }

  return [route('get', '/app/sign-in', open), route('post', '/app/sign-in', submit)];
}
