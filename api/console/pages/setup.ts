// The page that the one-time link opens: who runs this installation. Owns its texts and the order
// in which the first person comes to be.
import type { z } from 'zod';
import { markup } from '../../../common/contract/markup.ts';
import type { Context } from '../../http/state.ts';
import type { Auth } from '../auth/auth.ts';
import { emailText, MAX_EMAIL, nameText } from '../contract/common.ts';
import { newPassword } from '../contract/users.ts';
import { field, form, seeOther, sendPage } from '../html/page.ts';
import type { PageRoute, pageRoutes } from '../html/page-route.ts';
import { formBody } from '../kit/form-body.ts';
import { nameField, newPasswordField } from './new-user.ts';
import { otherHost } from './other-host.ts';

const PATH = '/app/setup';
const FIELDS = ['token', 'name', 'email', 'password', 'account'] as const;
type Name = (typeof FIELDS)[number];
type Values = Partial<Record<Name, string>>;

const schemas: Record<Exclude<Name, 'token'>, z.ZodType<string>> = {
  name: nameText(),
  email: emailText,
  password: newPassword,
  account: nameText(),
};

export function setupPages(auth: Auth, route: ReturnType<typeof pageRoutes>): PageRoute[] {
  const { setup, users, firstOwner, login, audit, publicUrl } = auth;

  function show(
    ctx: Context,
    withAccount: boolean,
    typed: Values = {},
    wrong: Values = {},
    status = 200,
  ): void {
    const first = FIELDS.find(name => wrong[name] !== undefined) ?? 'token';
    const common = (name: Name) => ({ name, error: wrong[name], focus: name === first });
    const fields = [
      field({
        ...common('token'),
        label: 'Setup token',
        autocomplete: 'off',
        value: typed.token,
        hint: 'What stands behind the # of the link in the terminal or in the log of this installation. It works once, for 24 hours; a restart makes a new one.',
        maxLength: 200,
      }),
      nameField({ ...common('name'), value: typed.name }),
      field({
        ...common('email'),
        label: 'Email',
        type: 'email',
        autocomplete: 'username',
        value: typed.email,
        maxLength: MAX_EMAIL,
      }),
      newPasswordField(common('password')),
      ...(withAccount
        ? [
            field({
              ...common('account'),
              label: 'Name of your team',
              autocomplete: 'organization',
              value: typed.account,
              hint: 'The first account: keys and renders belong to it.',
              maxLength: 100,
            }),
          ]
        : []),
    ];
    const body = form(PATH, fields, 'Set up');
    sendPage(
      ctx,
      {
        title: 'Set up Pressroom',
        lead: `You will run ${new URL(publicUrl).host}.`,
        error: otherHost(ctx, publicUrl),
        body,
      },
      status,
    );
  }

  const isDone = (ctx: Context, status: number) =>
    sendPage(
      ctx,
      {
        title: 'Set up already',
        body: markup`<p>Somebody runs this installation already, so the link does nothing any more.</p><p><a class="main-button" href="/app/sign-in">Sign in</a></p>`,
      },
      status,
    );

  async function open(ctx: Context): Promise<void> {
    if (!(await setup.needed())) return isDone(ctx, 200);
    show(ctx, (await firstOwner.waiting()) === undefined);
  }

  async function submit(ctx: Context): Promise<void> {
    const sent = await formBody(ctx.req);
    if (!(await setup.needed())) return isDone(ctx, 409);
    const waiting = await firstOwner.waiting();
    const asked = FIELDS.filter(name => name !== 'account' || waiting === undefined);
    const typed: Values = Object.fromEntries(asked.map(name => [name, sent.get(name)]));
    const wrong: Values = {};
    const good: Values = {};
    for (const name of asked) {
      if (name === 'token') continue;
      const parsed = schemas[name].safeParse(typed[name]);
      if (parsed.success) good[name] = parsed.data;
      else wrong[name] = `It must be ${parsed.error.issues[0]!.message}.`;
    }
    const token = typed.token!.trim().replace(/^.*#/, '');
    if (!(await setup.isGood(token))) {
      wrong.token =
        'This token is wrong, was used, or is older than 24 hours. The latest link is in the log; a restart makes a new one.';
      ctx.state.code = 'unauthorized';
      return show(ctx, waiting === undefined, typed, wrong, 401);
    }
    if (good.account !== undefined && (await firstOwner.isTaken(good.account)))
      wrong.account = 'There is an account of this name already.';
    if (Object.keys(wrong).length > 0) return show(ctx, waiting === undefined, typed, wrong, 400);
    // From here on one caller at most goes on, whatever others send at the same moment.
    if (!(await setup.use(token))) return isDone(ctx, 409);
    const user = await users.create({
      email: good.email!,
      name: good.name!,
      password: good.password!,
      operator: true,
    });
    if (waiting === undefined || !(await firstOwner.own(waiting, user._id)))
      await firstOwner.ownNew(good.account ?? `Team of ${good.name}`, user._id);
    await audit.note(
      { user: user._id, actor: user.email, ip: login.ipOf(ctx) },
      { action: 'operator.created', target: user.email },
    );
    await login.enter(ctx, user, 'setup');
    seeOther(ctx, '/app');
  }

  return [route('get', PATH, open), route('post', PATH, submit)];
}
