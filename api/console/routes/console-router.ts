// Turns the rows of the management API into middleware, the same for every row: origin, session,
// permission, body, handler, answer, in this order. Public rows only have handler and answer.
import type { Network } from '../../../common/addresses.ts';
import { ApiError } from '../../../common/contract/errors.ts';
import type { AccountRequests } from '../../accounts/account-requests.ts';
import { BODY_TIMES, type BodyLimits, jsonBody } from '../../http/body.ts';
import { accountHolder, type ByteBudget } from '../../http/byte-budget.ts';
import { boundRequests, callerIp } from '../../http/caller.ts';
import { checked, strict } from '../../http/checked.ts';
import type { Context, Middleware, Route } from '../../http/state.ts';
import type { Store } from '../../store/store.ts';
import { notSignedIn, type Sessions } from '../auth/sessions.ts';
import { MAY, OPERATOR_MAY } from '../contract/permissions.ts';
import { createChangeBound } from '../kit/change-bound.ts';
import type { Cookies } from '../kit/cookies.ts';
import type { ConsoleCall, ConsoleRoute, SignedIn } from '../kit/route.ts';
import { sameOrigin } from '../kit/same-origin.ts';
import { roleForbids } from '../users/team-rules.ts';

export const CONSOLE_PREFIX = '/console/v1';
const BODY_MAX_BYTES = 64 * 1024;
const BODY_MESSAGES = { missing: 'Send a JSON object.', tooLarge: 'Send a smaller body.' };

interface Deps {
  publicUrl: string;
  store: Store;
  sessions: Sessions;
  cookies: Cookies;
  budget: ByteBudget;
  requests: AccountRequests;
  trustedProxies: readonly Network[];
}

export function consoleRoutes(rows: readonly ConsoleRoute[], deps: Deps): Route[] {
  const ownOrigin = sameOrigin(deps.publicUrl, { navigation: false });
  const countChange = createChangeBound();
  return rows.map(row => ({
    method: row.method,
    path: CONSOLE_PREFIX + row.path,
    handle:
      row.access === 'public'
        ? [noStore, answer(row, deps)]
        : [
            noStore,
            ownOrigin,
            authorize(row, deps, countChange),
            ...readBody(row, deps),
            answer(row, deps),
          ],
  }));
}

const paramsOf = (ctx: Context) => (ctx as Context & { params: Record<string, string> }).params;

/** Answers depend on the user and the time. */
const noStore: Middleware = async (ctx, next) => {
  ctx.set('Cache-Control', 'no-store');
  await next();
};

/** Checks the session and the permission; sets `signedIn` and `account` of the state. */
const authorize =
  (
    row: ConsoleRoute,
    { store, sessions, cookies }: Deps,
    countChange: (user: string) => void,
  ): Middleware =>
  async (ctx, next) => {
    const token = cookies.session(ctx);
    const signedIn = token && (await sessions.find(token));
    if (!signedIn) throw notSignedIn();
    if (row.access === 'operator' && !signedIn.user.operator)
      throw new ApiError('forbidden', 'Only administrators of this installation can do this.');
    const id = paramsOf(ctx)['account'];
    const account = id === undefined ? undefined : await accountOf(store, row, signedIn, id);
    if (row.method !== 'get') countChange(signedIn.user.id);
    ctx.state.signedIn = signedIn;
    if (account) ctx.state.account = account;
    await next();
  };

/** Throws ApiError `not_found` unless the user is a member, `forbidden` without the permission. */
async function accountOf(
  store: Store,
  row: ConsoleRoute,
  signedIn: SignedIn,
  id: string,
): Promise<ConsoleCall['account']> {
  if (row.access === 'operator') return { id, role: 'operator' };
  const team = await store.limited(
    store.console.teams.findOne({ _id: id, 'members.user': signedIn.user.id }, store.limits),
  );
  const role = team?.members.find(({ user }) => user === signedIn.user.id)?.role;
  const may = role && (typeof row.access !== 'object' || MAY[role].includes(row.access.permission));
  if (may) return { id, role };
  // An operator can read every account, but change only those where a membership allows it.
  if (signedIn.user.operator && operatorMayRead(row)) {
    const exists = await store.limited(
      store.accounts.countDocuments({ _id: id }, { limit: 1, ...store.limits }),
    );
    if (exists > 0) return { id, role: 'operator' };
  }
  if (!role) throw noAccount();
  throw roleForbids(role);
}

/** Every row with an account has a permission, or is for operators. */
export const operatorMayRead = ({ method, access }: Pick<ConsoleRoute, 'method' | 'access'>) =>
  method === 'get' && typeof access === 'object' && OPERATOR_MAY.includes(access.permission);

/** Does not reveal whether the account exists: ids of accounts are part of API keys. */
const noAccount = () =>
  new ApiError('not_found', 'Account not found, or you are not a member of it.');

/** Rows with their own body limit render, so they are bounded like renders. */
function readBody(row: ConsoleRoute, { requests, budget }: Deps): Middleware[] {
  if (!row.body) return [];
  const bound = boundRequests(requests, ({ state }) => ({ accountId: state.account!.id }));
  return [
    ...(row.bodyMaxBytes === undefined ? [] : [bound]),
    jsonBody(bodyLimits(row), budget, holderOf),
  ];
}

const bodyLimits = ({ bodyMaxBytes }: ConsoleRoute): BodyLimits => ({
  ...BODY_TIMES,
  maxBytes: bodyMaxBytes ?? BODY_MAX_BYTES,
  hints: bodyMaxBytes === undefined ? BODY_MESSAGES : undefined,
});

const holderOf = ({ state: { account, signedIn } }: Context) =>
  accountHolder(account?.id ?? signedIn!.user.id);

/** Calls the handler and sends its result. */
function answer(row: ConsoleRoute, { trustedProxies }: Deps): Middleware {
  const querySchema = strict(row.query);
  return async ctx => {
    const { signedIn, account, body } = ctx.state;
    const result = await row.handle({
      // Public rows do not read it.
      signedIn: signedIn!,
      // Rows without `:account` do not read it.
      account: account as ConsoleCall['account'],
      params: paramsOf(ctx),
      query: checked(querySchema, { ...ctx.query }, 'parameter'),
      body: row.body ? checked(row.body, body) : undefined,
      clientIp: callerIp(ctx, trustedProxies),
      ctx,
    });
    if (row.answer === 'none') ctx.status = 204;
    else if (typeof row.answer === 'string') ctx.type = row.answer;
    else {
      ctx.status = row.status ?? 200;
      // The schema removes fields that are not part of the contract.
      ctx.body = row.answer.parse(result);
    }
  };
}
