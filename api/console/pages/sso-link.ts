// The page that links an SSO identity to an existing user, who enters the password once.
import { type Markup, markup } from '../../../common/contract/markup.ts';
import type { Context } from '../../http/state.ts';
import type { UserDocument } from '../../store/store.ts';
import type { Auth } from '../auth/auth.ts';
import { MAX_PASSWORD } from '../contract/users.ts';
import { leadsToConsent } from '../html/consent-flow.ts';
import { withNext } from '../html/next-path.ts';
import { field, form, sendPage } from '../html/page.ts';
import { asThrottled } from '../html/page-route.ts';
import { formBody } from '../kit/form-body.ts';
import { beginAgain } from '../sso/sso-error.ts';
import { completeSsoSignIn, SSO_LINK_PATH, type SsoSignIn } from './sso-sign-in.ts';
import type { SsoStateOf } from './sso-state.ts';

interface FormErrors {
  error?: string | undefined;
  passwordError?: string | undefined;
  codeError?: string | undefined;
}

/** GET: the form. */
export async function showSsoLink(sso: SsoSignIn, ctx: Context): Promise<void> {
  const { state, user } = await unprovenUser(sso, ctx);
  sendForm(sso, ctx, user, state.next);
}

/** POST: checks the password and the second factor, links the identity, and signs in. */
export async function submitSsoLink(sso: SsoSignIn, ctx: Context): Promise<void> {
  const sent = await formBody(ctx.req);
  const { state, user } = await unprovenUser(sso, ctx);
  let errors: FormErrors | undefined;
  try {
    errors = await checkCredentials(
      sso.auth,
      user,
      state.id,
      sent.get('password'),
      sent.get('code'),
    );
  } catch (error) {
    const { message, status } = asThrottled(ctx, error);
    return sendForm(sso, ctx, user, state.next, { error: message }, status);
  }
  if (errors) {
    ctx.state.code = 'unauthorized';
    return sendForm(sso, ctx, user, state.next, errors, 401);
  }
  sso.state.clear(ctx);
  await sso.ssoUsers.link(user, state.identity, sso.auth.login.ipOf(ctx));
  await completeSsoSignIn(sso, ctx, user, state.next);
}

async function unprovenUser(
  sso: SsoSignIn,
  ctx: Context,
): Promise<{ state: SsoStateOf<'unproven'>; user: UserDocument }> {
  const state = sso.state.require(ctx, 'unproven');
  const user = await sso.auth.users.byId(state.user);
  if (!user || user.disabled) throw beginAgain();
  return { state, user };
}

function sendForm(
  { auth, name }: SsoSignIn,
  ctx: Context,
  user: UserDocument,
  next: string,
  errors: FormErrors = {},
  status = 200,
): void {
  const { error, passwordError, codeError } = errors;
  const fields: Markup[] = [
    field({
      name: 'password',
      label: `Password for ${user.email}`,
      type: 'password',
      autocomplete: 'current-password',
      error: passwordError,
      focus: codeError === undefined,
      maxLength: MAX_PASSWORD,
    }),
  ];
  if (user.twoFactor)
    fields.push(
      field({
        name: 'code',
        label: 'Authentication or recovery code',
        autocomplete: 'one-time-code',
        error: codeError,
        focus: codeError !== undefined,
        maxLength: 40,
      }),
    );
  const body = markup`<p>${user.email} already has a password here. Enter it once to link SSO. After that, sign in with the button “${name}”.</p>
${form(SSO_LINK_PATH, fields, 'Link and sign in')}
${auth.passwordSignIn ? markup`<p class="below"><a href="${withNext('/app/sign-in', next)}">Sign in without linking</a></p>` : undefined}`;
  sendPage(ctx, { title: 'Link your login', error, body }, status, {
    opener: leadsToConsent(next),
  });
}

/** The errors of the form; undefined when all is correct. Throws ApiError `rate_limited`. */
async function checkCredentials(
  { limits, passwords, twoFactor }: Auth,
  user: UserDocument,
  passing: string,
  password: string,
  code: string,
): Promise<FormErrors | undefined> {
  if (password === '') return { passwordError: 'Enter your password.' };
  if (user.twoFactor && code === '')
    return { codeError: 'Enter the code from your authenticator app.' };
  await limits.again(user._id, 'password');
  if (
    !(await passwords.verify(user.password, password.slice(0, MAX_PASSWORD + 1), {
      kind: 'unknown',
      id: user._id,
    }))
  )
    return { passwordError: 'Incorrect password.' };
  if (user.twoFactor) {
    if (
      (await limits.secondFactor({ user: user._id, passing, device: undefined })) === 'start over'
    )
      throw beginAgain();
    if (!(await twoFactor.use(user, code)))
      return { codeError: 'This code is incorrect or was already used.' };
    await limits.secondFactorWasRight({ user: user._id, device: undefined });
  }
  await limits.againWasRight(user._id, 'password');
  return undefined;
}
