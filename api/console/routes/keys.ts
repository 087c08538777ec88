// The keys of an account in the management API: listed, made, rotated and revoked. The key's text
// leaves once, in the answer that made it.
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
  /** When each key was last used, by the daily figures: within seconds of the truth. */
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
      summary: 'The keys of the account, the newest first.',
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
      summary: 'Makes a key. Its text is in this answer and nowhere else.',
      access: { permission: 'keys.write' },
      body: newKey,
      answer: createdKey,
      status: 201,
      handle: async call => {
        const { name, expiresAt, allowedIps } = call.body;
        const made = await keys.create(call.account.id, {
          name,
          ...(expiresAt !== undefined && { expiresAt: new Date(expiresAt) }),
          ...(allowedIps && { allowedIps }),
        });
        await audit.record(call, keyCreated(made.key));
        return { key: shownKey(call.account.id, made.key), text: made.text };
      },
    }),
    route({
      method: 'post',
      path: '/accounts/:account/keys/:key/rotate',
      id: 'rotateKey',
      summary:
        'Makes a key with the same name and networks in place of another, which works on for the overlap.',
      access: { permission: 'keys.write' },
      body: keyRotation,
      answer: createdKey,
      status: 201,
      handle: async call => {
        const { overlap } = call.body;
        const made = await keys.rotate(
          call.account.id,
          call.params['key']!,
          ROTATION_OVERLAPS[overlap],
        );
        await audit.record(call, keyRotated(made.former, overlap, made.key));
        return { key: shownKey(call.account.id, made.key), text: made.text };
      },
    }),
    route({
      method: 'delete',
      path: '/accounts/:account/keys/:key',
      id: 'revokeKey',
      summary: 'Revokes a key: its next request is refused. Renders that run are not stopped.',
      access: { permission: 'keys.write' },
      answer: 'none',
      handle: async call => {
        const gone = await keys.revoke(call.account.id, call.params['key']!);
        await audit.record(call, keyRevoked(gone));
      },
    }),
  ];
};

const shownKey = (
  accountId: string,
  { id, name, last4, createdAt, expiresAt, allowedIps, replacedBy }: ShownKey,
  used?: Date,
): Key => ({
  id,
  name,
  prefix: keyPrefix(accountId),
  last4,
  createdAt: createdAt.toISOString(),
  expiresAt: expiresAt?.toISOString() ?? null,
  expired: expiresAt !== undefined && expiresAt.getTime() <= Date.now(),
  allowedIps: allowedIps ?? [],
  lastUsedAt: used?.toISOString() ?? null,
  replacedBy: replacedBy ?? null,
});
