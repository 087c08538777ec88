// The routes for API keys: list, create, rotate and revoke. The text of a key is returned only once,
// when it is created.
import type { AccountKeys, ShownKey } from '../../accounts/account-keys.ts';
import { keyPrefix } from '../../accounts/keys.ts';
import type { Store } from '../../store/store.ts';
import {
  createdKey,
  type Key,
  keys as keyList,
  keyRotation,
  newKey,
  ROTATION_OVERLAPS,
} from '../contract/accounts.ts';
import { type ConsoleRoute, route } from '../kit/route.ts';
import { type Audit, keyCreated, keyRevoked, keyRotated } from '../security/audit.ts';

interface Deps {
  store: Store;
  keys: AccountKeys;
  audit: Audit;
}

export const keyRoutes = ({ store, keys, audit }: Deps): ConsoleRoute[] => {
  /** By key, from the daily usage, which is a few seconds behind. */
  async function lastUses(accountId: string): Promise<Map<string, Date>> {
    const uses = store.console.usageDays.aggregate<{ _id: string; at: Date }>(
      [
        { $match: { '_id.account': accountId } },
        { $group: { _id: '$_id.key', at: { $max: '$lastAt' } } },
      ],
      store.limits,
    );
    return new Map((await store.limited(uses.toArray())).map(({ _id, at }) => [_id, at]));
  }

  return [
    route({
      method: 'get',
      path: '/accounts/:account/keys',
      id: 'listKeys',
      summary: 'List the API keys, newest first.',
      access: { permission: 'keys.read' },
      answer: keyList,
      handle: async ({ account: { id } }) => {
        const [all, used] = await Promise.all([keys.list(id), lastUses(id)]);
        return { items: all.map(key => shownKey(id, key, used.get(key.id))).reverse() };
      },
    }),
    route({
      method: 'post',
      path: '/accounts/:account/keys',
      id: 'createKey',
      summary: 'Create an API key. Its text is only in this response.',
      access: { permission: 'keys.write' },
      body: newKey,
      answer: createdKey,
      status: 201,
      handle: async call => {
        const { name, expiresAt, allowedIps, scopes, test } = call.body;
        const created = await keys.create(call.account.id, {
          name,
          ...(expiresAt !== undefined && { expiresAt: new Date(expiresAt) }),
          ...(allowedIps && { allowedIps }),
          ...(scopes && { scopes }),
          ...(test && { test }),
        });
        await audit.record(call, keyCreated(created.key));
        return { key: shownKey(call.account.id, created.key), text: created.text };
      },
    }),
    route({
      method: 'post',
      path: '/accounts/:account/keys/:key/rotate',
      id: 'rotateKey',
      summary:
        'Rotate an API key: create a new one with the same name, allowed IP addresses and scopes. The old key works until the overlap ends.',
      access: { permission: 'keys.write' },
      body: keyRotation,
      answer: createdKey,
      status: 201,
      handle: async call => {
        const { overlap } = call.body;
        const rotated = await keys.rotate(
          call.account.id,
          call.params['key']!,
          ROTATION_OVERLAPS[overlap],
        );
        await audit.record(call, keyRotated(rotated.former, overlap, rotated.key));
        return { key: shownKey(call.account.id, rotated.key), text: rotated.text };
      },
    }),
    route({
      method: 'delete',
      path: '/accounts/:account/keys/:key',
      id: 'revokeKey',
      summary: 'Revoke an API key. Its next request is rejected; running renders finish.',
      access: { permission: 'keys.write' },
      answer: 'none',
      handle: async call => {
        const revoked = await keys.revoke(call.account.id, call.params['key']!);
        await audit.record(call, keyRevoked(revoked));
      },
    }),
  ];
};

const shownKey = (
  accountId: string,
  { id, name, last4, createdAt, expiresAt, allowedIps, scopes, test, replacedBy }: ShownKey,
  used?: Date,
): Key => ({
  id,
  name,
  prefix: keyPrefix(accountId, test),
  last4,
  createdAt: createdAt.toISOString(),
  expiresAt: expiresAt?.toISOString() ?? null,
  expired: expiresAt !== undefined && expiresAt.getTime() <= Date.now(),
  allowedIps: allowedIps ?? [],
  scopes: [...scopes],
  test: test === true,
  lastUsedAt: used?.toISOString() ?? null,
  replacedBy: replacedBy ?? null,
});
