// Revokes an active key once its name is typed, or deletes an expired one.
import type { Key } from '../../api/console/contract/accounts.ts';
import { ConfirmDialog } from '../parts/confirm-dialog.tsx';
import { useAction } from '../parts/use-action.ts';
import { When } from '../parts/when.tsx';
import { remove } from '../session/api.ts';
import { useAccount } from '../session/session.tsx';

/** The dialog is open while `forKey` is set. */
export function RevokeKeyDialog({ forKey, onClose }: { forKey: Key | undefined; onClose(): void }) {
  const { id } = useAccount();
  const revoke = useAction<Key>({
    run: key => remove(`/accounts/${id}/keys/${key.id}`),
    done: (_, { name, expired }) => `API key ${name} ${expired ? 'deleted' : 'revoked'}.`,
    refresh: [
      ['keys', id],
      ['overview', id],
    ],
    after: onClose,
    errorInPlace: true,
  });
  const expired = forKey?.expired ?? false;
  return (
    <ConfirmDialog
      opened={forKey !== undefined}
      onClose={onClose}
      title={expired ? 'Delete this key?' : 'Revoke this key?'}
      confirm={expired ? 'Delete key' : 'Revoke key'}
      danger
      action={revoke}
      onConfirm={() => forKey && revoke.mutate(forKey)}
      {...(forKey && !expired && { typed: forKey.name })}
    >
      {expired ? (
        <>
          The key {forKey?.name} (…{forKey?.last4}) has expired and no longer works. It will be
          removed from this list.{' '}
        </>
      ) : (
        <>
          Requests with the key {forKey?.name} (…{forKey?.last4}) will be rejected with 401. Renders
          in progress will finish. This cannot be undone.{' '}
        </>
      )}
      {forKey?.lastUsedAt && (
        <>
          It was last used <When at={forKey.lastUsedAt} />.
        </>
      )}
    </ConfirmDialog>
  );
}
