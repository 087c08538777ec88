// The routes for the connected apps of the signed-in user: list and disconnect.
import { ApiError } from '../../../common/contract/errors.ts';
import type { Store } from '../../store/store.ts';
import { connectedApps } from '../contract/users.ts';
import { accountNames } from '../kit/account-names.ts';
import { type ConsoleRoute, route } from '../kit/route.ts';
import { appName, type Grants } from '../oauth/grants.ts';
import type { Audit } from '../security/audit.ts';

export function appRoutes({
  store,
  grants,
  audit,
}: {
  store: Store;
  grants: Grants;
  audit: Audit;
}): ConsoleRoute[] {
  return [
    route({
      method: 'get',
      path: '/me/apps',
      id: 'listMyApps',
      summary: 'List your connected apps, newest first.',
      access: 'signed-in',
      answer: connectedApps,
      handle: async ({ signedIn }) => {
        const mine = await grants.listOf(signedIn.user.id);
        const names = await accountNames(
          store,
          mine.map(({ account }) => account),
        );
        return {
          items: mine.map(
            ({ _id, account, clientName, redirect, scope, createdAt, lastUsedAt }) => ({
              id: _id,
              name: clientName === '' ? null : clientName,
              redirect,
              scope,
              account: { id: account, name: names.get(account) ?? null },
              connectedAt: createdAt.toISOString(),
              lastUsedAt: lastUsedAt?.toISOString() ?? null,
            }),
          ),
        };
      },
    }),
    route({
      method: 'delete',
      path: '/me/apps/:grant',
      id: 'disconnectMyApp',
      summary: 'Disconnect an app. Its next call is rejected; running renders finish.',
      access: 'signed-in',
      answer: 'none',
      handle: async call => {
        const { user } = call.signedIn;
        const ended = await grants.end(call.params['grant']!, user.id);
        if (!ended)
          throw new ApiError('not_found', 'App not found. It may already be disconnected.');
        await audit.note(
          { account: ended.account, user: user.id, actor: user.email, ip: call.clientIp },
          { action: 'app.disconnected', target: appName(ended), details: { by: 'person' } },
        );
      },
    }),
  ];
}
