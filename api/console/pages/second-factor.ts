// The page of the second factor: a code of the authenticator app, or a recovery code. Owns its texts
// and the handling of wrong codes.
import { type Markup, markup } from '../../../common/contract/markup.ts';
import type { Context } from '../../http/state.ts';
import type { Auth } from '../auth/auth.ts';
import { nextPath, withNext } from '../html/next-path.ts';
import { field, form, seeOther, sendPage } from '../html/page.ts';
import { asThrottled, type PageRoute, type pageRoutes } from '../html/page-route.ts';
import { formBody } from '../kit/form-body.ts';

const PATH = '/app/sign-in/code';

export function secondFactorPages(auth: Auth, route: ReturnType<typeof pageRoutes>): PageRoute[] {
  const { limits, devices, login, pendingTwoFactor, twoFactor, audit } = auth;

  const isRecovery = (ctx: Context) => ctx.query['recovery'] !== undefined;

  function show(ctx: Context, error?: string, status = 200): void {
    const next = nextPath(ctx.query['next']);
    const recovery = isRecovery(ctx);
    const code: Markup = recovery
      ? field({
          name: 'code',
          label: 'Recovery code',
          autocomplete: 'off',
          hint: 'Each code works once.',
          error,
          focus: true,
          maxLength: 40,
        })
      : field({
          name: 'code',
          label: 'Authentication code',
          autocomplete: 'one-time-code',
          inputmode: 'numeric',
          hint: 'The current 6-digit code in your authenticator app.',
          error,
          focus: true,
          maxLength: 40,
        });
    const other = recovery ? 'Use your authenticator app' : 'Use a recovery code';
    sendPage(
      ctx,
      {
        title: recovery ? 'Recovery code' : 'Two-factor authentication',
        lead: recovery
          ? 'Enter one of the recovery codes that you saved.'
          : 'Enter the code from your authenticator app.',
        body: markup`${form(withNext(PATH, next, recovery ? 'recovery' : ''), [code], 'Sign in')}
<p class="below"><a href="${withNext(PATH, next, recovery ? '' : 'recovery')}">${other}</a> · <a href="${withNext('/app/sign-in', next)}">Start again</a></p>`,
      },
      status,
    );
  }

  const startAgain = (ctx: Context, why: string, status: number) => {
    pendingTwoFactor.end(ctx);
    const body = markup`<p><a class="main-button" href="${withNext('/app/sign-in', nextPath(ctx.query['next']))}">Sign in again</a></p>`;
    sendPage(ctx, { title: 'Sign in again', error: why, body }, status);
  };
  const expired =
    'This sign-in has expired (after 5 minutes), or your password was changed in the meantime.';

  async function open(ctx: Context): Promise<void> {
    if (await pendingTwoFactor.waiting(ctx)) show(ctx);
    else ctx.redirect(withNext('/app/sign-in', nextPath(ctx.query['next'])));
  }

  async function submit(ctx: Context): Promise<void> {
    const code = (await formBody(ctx.req)).get('code').trim();
    const waiting = await pendingTwoFactor.waiting(ctx);
    if (!waiting) return startAgain(ctx, expired, 401);
    if (code === '') return show(ctx, 'Enter the code.', 400);
    const { user, id, method } = waiting;
    const attempt = { user: user._id, passing: id, device: devices.known(ctx, user._id) };
    try {
      if ((await limits.secondFactor(attempt)) === 'start over')
        return startAgain(ctx, 'Too many incorrect codes. Sign in again with your password.', 401);
    } catch (error) {
      const { message, status } = asThrottled(ctx, error);
      return show(ctx, message, status);
    }
    const used = await twoFactor.use(user, code.slice(0, 40));
    const actor = { user: user._id, actor: user.email, ip: login.ipOf(ctx) };
    if (!used) {
      await audit.note(actor, { action: 'person.second_factor_failed' });
      ctx.state.code = 'unauthorized';
      return show(
        ctx,
        isRecovery(ctx)
          ? 'This code is incorrect or was already used.'
          : 'This code is incorrect or was already used. Wait for the next one.',
        401,
      );
    }
    await limits.secondFactorWasRight(attempt);
    if (used === 'recovery') await audit.note(actor, { action: 'person.recovery_code_used' });
    pendingTwoFactor.end(ctx);
    await login.openSession(ctx, user, method);
    seeOther(ctx, nextPath(ctx.query['next']));
  }

  return [route('get', PATH, open), route('post', PATH, submit)];
}
