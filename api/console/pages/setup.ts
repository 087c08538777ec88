// The page of the one-time setup link, which creates the first administrator. Owns its texts and the
// order of the steps.
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

interface SetupForm {
  /** Whether to ask for the name of the first account. */
  withAccount: boolean;
  typed?: Values;
  errors?: Values;
}

function sendForm(
  { publicUrl }: Auth,
  ctx: Context,
  { withAccount, typed = {}, errors = {} }: SetupForm,
  status = 200,
): void {
  const focused = FIELDS.find(name => errors[name] !== undefined) ?? 'token';
  const common = (name: Name) => ({ name, error: errors[name], focus: name === focused });
  const fields = [
    field({
      ...common('token'),
      label: 'Setup token',
      autocomplete: 'off',
      value: typed.token,
      hint: 'The part after # in the link printed in the terminal or log. It works once and expires after 24 hours; restart to get a new one.',
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
            label: 'Account name',
            autocomplete: 'organization',
            value: typed.account,
            hint: 'Your first account, such as the name of your team. API keys and renders belong to it.',
            maxLength: 100,
          }),
        ]
      : []),
  ];
  sendPage(
    ctx,
    {
      title: 'Set up Pressroom',
      lead: `Create the administrator account for ${new URL(publicUrl).host}.`,
      error: otherHost(ctx, publicUrl),
      body: form(PATH, fields, 'Set up'),
    },
    status,
  );
}

const sendDone = (ctx: Context, status: number) =>
  sendPage(
    ctx,
    {
      title: 'Already set up',
      body: markup`<p>This installation already has an administrator. The setup link no longer works.</p><p><a class="main-button" href="/app/sign-in">Sign in</a></p>`,
    },
    status,
  );

async function open(auth: Auth, ctx: Context): Promise<void> {
  if (!(await auth.setup.needed())) return sendDone(ctx, 200);
  sendForm(auth, ctx, { withAccount: (await auth.firstOwner.waiting()) === undefined });
}

/** Validates all fields except the token. */
function validated(asked: readonly Name[], typed: Values): { valid: Values; errors: Values } {
  const valid: Values = {};
  const errors: Values = {};
  for (const name of asked) {
    if (name === 'token') continue;
    const parsed = schemas[name].safeParse(typed[name]);
    if (parsed.success) valid[name] = parsed.data;
    else errors[name] = `Must be ${parsed.error.issues[0]!.message}.`;
  }
  return { valid, errors };
}

async function submit(auth: Auth, ctx: Context): Promise<void> {
  const { setup, firstOwner, login } = auth;
  const sent = await formBody(ctx.req);
  if (!(await setup.needed())) return sendDone(ctx, 409);
  const waiting = await firstOwner.waiting();
  const withAccount = waiting === undefined;
  const asked = FIELDS.filter(name => name !== 'account' || withAccount);
  const typed: Values = Object.fromEntries(asked.map(name => [name, sent.get(name)]));
  const { valid, errors } = validated(asked, typed);
  // A whole link may be pasted instead of the token.
  const token = typed.token!.trim().replace(/^.*#/, '');
  if (!(await setup.isGood(token))) {
    errors.token =
      'This token is incorrect, was already used, or has expired. Use the latest link in the log, or restart to get a new one.';
    ctx.state.code = 'unauthorized';
    return sendForm(auth, ctx, { withAccount, typed, errors }, 401);
  }
  if (valid.account !== undefined && (await firstOwner.isTaken(valid.account)))
    errors.account = 'An account with this name already exists.';
  if (Object.keys(errors).length > 0)
    return sendForm(auth, ctx, { withAccount, typed, errors }, 400);
  // At most one request passes here: the token works once.
  if (!(await setup.use(token))) return sendDone(ctx, 409);
  const user = await createAdministrator(auth, ctx, valid, waiting);
  await login.openSession(ctx, user, 'setup');
  seeOther(ctx, '/app');
}

/** `waiting`: the account without an owner, which the new user then owns. */
async function createAdministrator(
  { users, firstOwner, audit, login }: Auth,
  ctx: Context,
  { email, name, password, account }: Values,
  waiting: string | undefined,
) {
  const user = await users.create({
    email: email!,
    name: name!,
    password: password!,
    operator: true,
  });
  if (waiting === undefined || !(await firstOwner.own(waiting, user._id)))
    await firstOwner.ownNew(account ?? `Team of ${name}`, user._id);
  await audit.note(
    { user: user._id, actor: user.email, ip: login.ipOf(ctx) },
    { action: 'operator.created', target: user.email },
  );
  return user;
}

export const setupPages = (auth: Auth, route: ReturnType<typeof pageRoutes>): PageRoute[] => [
  route('get', PATH, ctx => open(auth, ctx)),
  route('post', PATH, ctx => submit(auth, ctx)),
];
