// Turns the rows of the management API into middleware: session, origin, permission, share, body,
// handler, answer, in this order and for every row alike.
import type { Network } from '../../../common/addresses.ts';
import { ApiError } from '../../../common/contract/errors.ts';
import type { AccountRequests } from '../../accounts/account-requests.ts';
import { BODY_TIMES, type BodyLimits, jsonBody } from '../../http/body.ts';
import { boundRequests } from '../../http/bound-requests.ts';
import { accountHolder, type ByteBudget } from '../../http/byte-budget.ts';
import { callerIp } from '../../http/client-ip.ts';
import type { Context, Middleware, Route } from '../../http/state.ts';
import type { Store } from '../../store/store.ts';
import { notSignedIn, type Sessions } from '../auth/sessions.ts';
import { MAY } from '../contract/permissions.ts';
import { createChangeBound } from '../kit/change-bound.ts';
import { checked, strict } from '../kit/checked.ts';
import type { Cookies } from '../kit/cookies.ts';
import type { ConsoleCall, ConsoleRoute, SignedIn } from '../kit/route.ts';
import { sameOrigin } from '../kit/same-origin.ts';
import { roleForbids } from '../users/team-rules.ts';

export const CONSOLE_PREFIX = '/console/v1';
const BODY_MAX_BYTES = 64 * 1024;
const BODY_MESSAGES = { missing: 'Send a JSON object.', tooLarge: 'Send less.' };

interface Surroundings {
  publicUrl: string;
  store: Store;
  sessions: Sessions;
  cookies: Cookies;
  budget: ByteBudget;
  requests: AccountRequests;
  trustedProxies: readonly Network[];
}

/**
 * The same for an account that is not there and for one of others: ids of accounts stand in keys.
 */
const noAccount = () =>
  new ApiError('not_found', 'There is no such account, or you are not a member of it.');

const bodyLimits = ({ bodyMaxBytes }: ConsoleRoute): BodyLimits => ({
  ...BODY_TIMES,
  maxBytes: bodyMaxBytes ?? BODY_MAX_BYTES,
  words: bodyMaxBytes === undefined ? BODY_MESSAGES : undefined,
});

const holderOf = ({ state: { account, signedIn } }: Context) =>
  accountHolder(account?.id ?? signedIn!.user.id);

export function consoleRoutes(rows: readonly ConsoleRoute[], around: Surroundings): Route[] {
  const { publicUrl, store, sessions, cookies, budget, requests, trustedProxies } = around;
  const ownPages = sameOrigin(publicUrl, { navigation: false });
  const countChange = createChangeBound();

  /** Every answer is of this person and this moment. */
  const unkept: Middleware = async (ctx, next) => {
    ctx.set('Cache-Control', 'no-store');
    await next();
  };

  async function accountOf(
    row: ConsoleRoute,
    signedIn: SignedIn,
    id: string,
  ): Promise<ConsoleCall['account']> {
    if (row.access === 'operator') return { id, role: 'operator' };
    const team = await store.limited(
      store.console.teams.findOne({ _id: id, 'members.user': signedIn.user.id }, store.limits),
    );
    const role = team?.members.find(({ user }) => user === signedIn.user.id)?.role;
    const may =
      role && (typeof row.access !== 'object' || MAY[role].includes(row.access.permission));
    if (may) return { id, role };
    // Who runs the installation looks into every account, and works in none by that alone.
    if (signedIn.user.operator && row.method === 'get') {
      const there = await store.limited(
        store.accounts.countDocuments({ _id: id }, { limit: 1, ...store.limits }),
      );
      if (there > 0) return { id, role: 'operator' };
    }
    if (!role) throw noAccount();
    throw roleForbids(role);
  }

  const signIn = (row: ConsoleRoute): Middleware => {
    return async (ctx, next) => {
      const token = cookies.session(ctx);
      const signedIn = token && (await sessions.find(token));
      if (!signedIn) throw notSignedIn();
      if (row.access === 'operator' && !signedIn.user.operator)
        throw new ApiError('forbidden', 'Only who runs this installation may do this.');
      const params = (ctx as Context & { params: Record<string, string> }).params;
      const account =
        params['account'] === undefined
          ? undefined
          : await accountOf(row, signedIn, params['account']);
      if (row.method !== 'get') countChange(signedIn.user.id);
      ctx.state.signedIn = signedIn;
      if (account) ctx.state.account = account;
      await next();
    };
  };

  const answer = (row: ConsoleRoute): Middleware => {
    const querySchema = strict(row.query);
    return async ctx => {
      const { signedIn, account, body } = ctx.state;
      const result = await row.handle({
        signedIn: signedIn!,
        // Rows without `:account` do not read it.
        account: account as ConsoleCall['account'],
        params: (ctx as Context & { params: Record<string, string> }).params,
        query: checked(querySchema, { ...ctx.query }),
        body: row.body ? checked(row.body, body) : undefined,
        clientIp: callerIp(ctx, trustedProxies),
        ctx,
      });
      if (row.answer === 'none') ctx.status = 204;
      else if (typeof row.answer === 'string') ctx.type = row.answer;
      else {
        ctx.status = row.status ?? 200;
        // Through the schema: what a document has besides never leaves.
        ctx.body = row.answer.parse(result);
      }
    };
  };

  /** A row with room of its own takes renders, whose bodies are large. */
  const bodyOf = (row: ConsoleRoute): Middleware[] => {
    if (!row.body) return [];
    const bound = boundRequests(requests, ({ state }) => ({ accountId: state.account!.id }));
    return [
      ...(row.bodyMaxBytes === undefined ? [] : [bound]),
      jsonBody(bodyLimits(row), budget, holderOf),
    ];
  };

  return rows.map(row => ({
    method: row.method,
    path: CONSOLE_PREFIX + row.path,
    handle: [unkept, ownPages, signIn(row), ...bodyOf(row), answer(row)],
  }));
}
