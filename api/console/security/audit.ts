// The audit log: who did what, when, from where. Written with the act; never changed afterwards.
import type { ShownKey } from '../../accounts/account-keys.ts';
import type { Account } from '../../accounts/accounts.ts';
import { randomBase62 } from '../../accounts/keys.ts';
import type { AuditDocument, Store } from '../../store/store.ts';
import type { ConsoleCall } from '../kit/route.ts';

export type AuditAction = Pick<AuditDocument, 'action' | 'target' | 'details'>;
export type Actor = Pick<AuditDocument, 'account' | 'user' | 'actor' | 'ip'>;

export interface Audit {
  /**
   * What a signed-in person did to the account of the call; `about: 'installation'` for what
   * concerns no single account.
   */
  record(
    call: Pick<ConsoleCall, 'signedIn' | 'account' | 'clientIp'>,
    act: AuditAction,
    about?: 'account' | 'installation',
  ): Promise<void>;
  /** The same for what has no call: signing in, the command line, the payment provider. */
  note(actor: Actor, act: AuditAction): Promise<void>;
}

export function createAudit(store: Store): Audit {
  async function note(actor: Actor, act: AuditAction): Promise<void> {
    const entry: AuditDocument = {
      _id: `aud_${randomBase62(20)}`,
      at: new Date(),
      ...actor,
      ...act,
    };
    await store.limited(store.console.audit.insertOne(entry, store.limits));
  }
  return {
    note,
    record: ({ signedIn, account, clientIp }, act, about = 'account') =>
      note(
        {
          ...(about === 'account' && { account: account.id }),
          user: signedIn.user.id,
          actor: signedIn.user.email,
          ip: clientIp,
        },
        act,
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
    (['plan', 'state', 'intranet'] as const)
      .filter(field => before[field] !== after[field])
      .flatMap(field => [
        [field, after[field]],
        [`${field}Before`, before[field]],
      ]),
  ),
});

const keyAct = (
  action: string,
  { id, name, last4 }: ShownKey,
  details: AuditAction['details'] = {},
): AuditAction => ({
  action,
  target: name,
  details: { key: id, last4, ...details },
});

export const keyCreated = (key: ShownKey): AuditAction =>
  keyAct('key.created', key, {
    expiresAt: key.expiresAt?.toISOString() ?? null,
    allowedIps: key.allowedIps?.join(', ') ?? null,
  });
export const keyRotated = (former: ShownKey, overlap: string, newKey: ShownKey): AuditAction =>
  keyAct('key.rotated', former, { overlap, newLast4: newKey.last4 });
export const keyRevoked = (key: ShownKey): AuditAction => keyAct('key.revoked', key);
