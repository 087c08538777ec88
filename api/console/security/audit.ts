// The audit log: actor, action, time and address. Entries are written with the action and never
// changed.
import type { ShownKey } from '../../accounts/account-keys.ts';
import type { Account } from '../../accounts/accounts.ts';
import { randomBase62 } from '../../accounts/keys.ts';
import type { AuditDocument, ClientSession, JobDocument, Store } from '../../store/store.ts';
import type { ConsoleCall } from '../kit/route.ts';

export type AuditAction = Pick<AuditDocument, 'action' | 'target' | 'details'>;
export type Actor = Pick<AuditDocument, 'account' | 'user' | 'actor' | 'ip'>;

export type Audit = ReturnType<typeof createAudit>;

export function createAudit(store: Store) {
  /** Without a call: sign-in, command line, payment provider. `session`: of a transaction. */
  async function note(actor: Actor, action: AuditAction, session?: ClientSession): Promise<void> {
    const entry: AuditDocument = {
      _id: `aud_${randomBase62(20)}`,
      at: new Date(),
      ...actor,
      ...action,
    };
    const options = { ...store.limits, ...(session && { session }) };
    await store.limited(store.console.audit.insertOne(entry, options));
  }
  return {
    note,
    /** The same for a signed-in user, on the account of the call or on the installation. */
    record: (
      { signedIn, account, clientIp }: Pick<ConsoleCall, 'signedIn' | 'account' | 'clientIp'>,
      action: AuditAction,
      about: 'account' | 'installation' = 'account',
      session?: ClientSession,
    ) =>
      note(
        {
          ...(about === 'account' && { account: account.id }),
          user: signedIn.user.id,
          actor: signedIn.user.email,
          ip: clientIp,
        },
        action,
        session,
      ),
  };
}

export const accountCreated = ({ name, plan }: Account): AuditAction => ({
  action: 'account.created',
  target: name,
  details: { plan },
});

/** Each setting that an operator changed, with its previous value. */
export const accountChanged = (before: Account, after: Account): AuditAction => ({
  action: 'account.changed',
  target: after.name,
  details: Object.fromEntries(
    (['plan', 'state', 'intranet', 'rendererReuse'] as const)
      .filter(field => before[field] !== after[field])
      .flatMap(field => [
        [field, after[field]],
        [`${field}Before`, before[field]],
      ]),
  ),
});

export const accountDeleted = ({ name }: Pick<Account, 'name'>): AuditAction => ({
  action: 'account.deleted',
  target: name,
});

const keyAction = (
  action: string,
  { id, name, last4 }: ShownKey,
  details: AuditAction['details'] = {},
): AuditAction => ({
  action,
  target: name,
  details: { key: id, last4, ...details },
});

export const keyCreated = (key: ShownKey): AuditAction =>
  keyAction('key.created', key, {
    expiresAt: key.expiresAt?.toISOString() ?? null,
    allowedIps: key.allowedIps?.join(', ') ?? null,
    scopes: key.scopes.join(', '),
    test: key.test === true,
  });
export const keyRotated = (former: ShownKey, overlap: string, newKey: ShownKey): AuditAction =>
  keyAction('key.rotated', former, { overlap, newLast4: newKey.last4 });
export const keyRevoked = (key: ShownKey): AuditAction => keyAction('key.revoked', key);

/** `canceled`: how many of its renders. */
export const batchCanceled = (id: string, canceled: number): AuditAction => ({
  action: 'batch.canceled',
  target: id,
  details: { canceled },
});

export const renderCanceled = ({ _id, reference }: JobDocument): AuditAction => ({
  action: 'render.canceled',
  target: reference ?? _id,
  ...(reference !== undefined && { details: { render: _id } }),
});
