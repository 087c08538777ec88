// The page of the second factor: a code of the app, or a recovery code. Owns its texts and what a
// wrong code leads to.
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

  function show(ctx: Context, wrong?: string, status = 200): void {
    const next = nextPath(ctx.query['next']);
    const recovery = isRecovery(ctx);
    const code: Markup = recovery
      ? field({
          name: 'code',
          label: 'Recovery code',
          autocomplete: 'off',
          hint: 'One of those that you kept. Each works once.',
          error: wrong,
          focus: true,
          maxLength: 40,
        })
      : field({
          name: 'code',
          label: 'Code',
          autocomplete: 'one-time-code',
          inputmode: 'numeric',
          hint: 'The six digits that your app shows now.',
          error: wrong,
          focus: true,
          maxLength: 40,
        });
    const other = recovery ? 'Use a code of the app' : 'Use a recovery code';
    sendPage(
      ctx,
      {
        title: recovery ? 'Recovery code' : 'Second factor',
        lead: 'The password was right. This is the second step.',
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
  const tooLate =
    'This sign-in took longer than five minutes, or your password was changed meanwhile.';

  async function open(ctx: Context): Promise<void> {
    if (await pendingTwoFactor.waiting(ctx)) show(ctx);
    else ctx.redirect(withNext('/app/sign-in', nextPath(ctx.query['next'])));
  }

  async function submit(ctx: Context): Promise<void> {
    const code = (await formBody(ctx.req)).get('code').trim();
    const waiting = await pendingTwoFactor.waiting(ctx);
    if (!waiting) return startAgain(ctx, tooLate, 401);
    if (code === '') return show(ctx, 'Type the code.', 400);
    const { user, id, method } = waiting;
    const attempt = { user: user._id, passing: id, device: devices.known(ctx, user._id) };
    try {
      if ((await limits.secondFactor(attempt)) === 'start over')
        return startAgain(ctx, 'Five codes were wrong.', 401);
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
          ? 'This code is wrong, or was used already.'
          : 'This code is wrong, or was used already. Wait for the next one.',
        401,
      );
    }
    await limits.secondFactorWasRight(attempt);
    if (used === 'recovery') await audit.note(actor, { action: 'person.recovery_code_used' });
    pendingTwoFactor.end(ctx);
    await login.enter(ctx, user, method);
    seeOther(ctx, nextPath(ctx.query['next']));
  }

  return [route('get', PATH, open), route('post', PATH, submit)];
}
