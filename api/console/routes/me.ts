// The routes of the signed-in user: profile, password, sessions and sign-out. Two-factor
// authentication is in two-factor.ts.

import { ApiError, invalid } from '../../../common/contract/errors.ts';
import { API_VERSION } from '../../../common/contract/openapi.ts';
import type { BillingMode, Plan } from '../../accounts/plans.ts';
import type { Store, UserDocument } from '../../store/store.ts';
import type { Auth } from '../auth/auth.ts';
import { notSignedIn } from '../auth/sessions.ts';
import { MAY } from '../contract/permissions.ts';
import { me, passwordChange, profileChange, sessions as sessionList } from '../contract/users.ts';
import { accountNames } from '../kit/account-names.ts';
import { type ConsoleRoute, route } from '../kit/route.ts';

const DAY_MS = 24 * 3600e3;

export interface MeDeps {
  store: Store;
  auth: Auth;
  plans: readonly Plan[];
  billingMode: BillingMode;
  renderLogKeepMs: number;
  /** The MCP URL; undefined when MCP is off. */
  mcpUrl: string | undefined;
  /** Whether they are on. */
  asyncRenders: boolean;
}

/** Throws ApiError `unauthorized` when the user has been deleted. */
export async function storedUser({ users }: Auth, id: string): Promise<UserDocument> {
  const user = await users.byId(id);
  if (!user) throw notSignedIn();
  return user;
}

/**
 * Rejects with ApiError `validation_error` naming `field` when the password is incorrect,
 * `rate_limited` after too many attempts. Accepts anything from a user without a password.
 */
export async function checkPassword(
  { passwords, limits }: Auth,
  user: UserDocument,
  field: string,
  typed: string | undefined,
): Promise<void> {
  if (user.password === undefined) return;
  if (typed === undefined || typed === '')
    throw invalid(`\`${field}\` must be your current password.`);
  await limits.again(user._id, 'password');
  if (!(await passwords.verify(user.password, typed, { kind: 'known', id: user._id })))
    throw invalid(`\`${field}\` is not your current password.`);
  await limits.againWasRight(user._id, 'password');
}

async function accountsOf(store: Store, user: string) {
  const { console, limited, limits } = store;
  const teams = await limited(console.teams.find({ 'members.user': user }, limits).toArray());
  const names = await accountNames(
    store,
    teams.map(({ _id }) => _id),
  );
  return [...names].map(([id, name]) => {
    const { role } = teams
      .find(team => team._id === id)!
      .members.find(member => member.user === user)!;
    return { id, name, role, permissions: [...MAY[role]] };
  });
}

async function meOf(
  { store, auth, plans, billingMode, renderLogKeepMs, mcpUrl, asyncRenders }: MeDeps,
  id: string,
) {
  const user = await storedUser(auth, id);
  return {
    user: {
      id,
      email: user.email,
      name: user.name,
      operator: user.operator,
      hasPassword: user.password !== undefined,
      twoFactor: {
        on: user.twoFactor !== undefined,
        recoveryCodesLeft: user.twoFactor?.recoveryCodes.length ?? 0,
      },
      company: user.identities.length > 0,
    },
    accounts: await accountsOf(store, id),
    installation: {
      version: API_VERSION,
      publicUrl: auth.publicUrl,
      billing: billingMode,
      companySignIn: auth.sso?.name ?? null,
      plans: plans.map(({ name, parallel, monthlyQuota }) => ({ name, parallel, monthlyQuota })),
      renderLogDays: Math.floor(renderLogKeepMs / DAY_MS),
      mcpUrl: mcpUrl ?? null,
      asyncRenders,
    },
  };
}

export function meRoutes(deps: MeDeps): ConsoleRoute[] {
  const { store, auth } = deps;
  const { users, sessions, audit } = auth;
  const { limits, limited } = store;

  return [
    route({
      method: 'get',
      path: '/me',
      id: 'getMe',
      summary: 'Retrieve the signed-in user, their accounts, and the settings of the installation.',
      access: 'signed-in',
      answer: me,
      handle: ({ signedIn }) => meOf(deps, signedIn.user.id),
    }),
    route({
      method: 'patch',
      path: '/me',
      id: 'changeMe',
      summary: 'Update your name.',
      access: 'signed-in',
      body: profileChange,
      answer: me,
      handle: async call => {
        const { id } = call.signedIn.user;
        await limited(
          store.console.users.updateOne({ _id: id }, { $set: { name: call.body.name } }, limits),
        );
        await audit.record(
          call,
          { action: 'person.renamed', details: { name: call.body.name } },
          'installation',
        );
        return meOf(deps, id);
      },
    }),
    route({
      method: 'post',
      path: '/me/password',
      id: 'changeMyPassword',
      summary: 'Change your password. Ends your other sessions.',
      access: 'signed-in',
      body: passwordChange,
      answer: 'none',
      handle: async call => {
        const { user: me, sessionId } = call.signedIn;
        const user = await storedUser(auth, me.id);
        await checkPassword(auth, user, 'current', call.body.current);
        if (!(await users.setPassword(me.id, call.body.next, user.password ?? null)))
          throw new ApiError(
            'conflict',
            'Your password was changed at the same time. Sign in again.',
          );
        const ended = await sessions.endAll(me.id, sessionId);
        await audit.record(
          call,
          { action: 'person.password_changed', details: { sessionsEnded: ended } },
          'installation',
        );
      },
    }),
    ...sessionRoutes(auth),
  ];
}

function sessionRoutes({ sessions, cookies, audit }: Auth): ConsoleRoute[] {
  return [
    route({
      method: 'get',
      path: '/me/sessions',
      id: 'listMySessions',
      summary: 'List your sessions, last used first.',
      access: 'signed-in',
      answer: sessionList,
      handle: async ({ signedIn }) => ({
        items: (await sessions.listOf(signedIn.user.id)).map(
          ({ publicId, method, createdAt, lastSeenAt, ip, userAgent }) => ({
            id: publicId,
            current: publicId === signedIn.sessionId,
            method,
            createdAt: createdAt.toISOString(),
            lastSeenAt: lastSeenAt.toISOString(),
            ip,
            userAgent,
          }),
        ),
      }),
    }),
    route({
      method: 'delete',
      path: '/me/sessions',
      id: 'endMyOtherSessions',
      summary: 'End all your other sessions.',
      access: 'signed-in',
      answer: 'none',
      handle: async call => {
        const ended = await sessions.endAll(call.signedIn.user.id, call.signedIn.sessionId);
        await audit.record(
          call,
          { action: 'person.sessions_ended', details: { sessionsEnded: ended } },
          'installation',
        );
      },
    }),
    route({
      method: 'delete',
      path: '/me/sessions/:session',
      id: 'endMySession',
      summary: 'End one of your sessions.',
      access: 'signed-in',
      answer: 'none',
      handle: async call => {
        if (!(await sessions.end(call.signedIn.user.id, call.params['session']!)))
          throw new ApiError('not_found', 'Session not found. It may already have ended.');
        await audit.record(
          call,
          { action: 'person.sessions_ended', details: { sessionsEnded: 1 } },
          'installation',
        );
      },
    }),
    route({
      method: 'post',
      path: '/me/sign-out',
      id: 'signOut',
      summary: 'Sign out: end this session.',
      access: 'signed-in',
      answer: 'none',
      handle: async call => {
        await sessions.end(call.signedIn.user.id, call.signedIn.sessionId);
        cookies.clear(call.ctx, 'session');
        await audit.record(call, { action: 'person.signed_out' }, 'installation');
      },
    }),
  ];
}
