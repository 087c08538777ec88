// Revokes a key, after its name was typed: programs that use it fail from then on.
import type { Key } from '../../api/console/contract/accounts.ts';
import { ConfirmDialog } from '../parts/confirm-dialog.tsx';
import { useAction } from '../parts/use-action.ts';
import { When } from '../parts/when.tsx';
import { remove } from '../session/api.ts';
import { useAccount } from '../session/session.tsx';

/** `forKey`: the key to be revoked; the dialog is open while there is one. */
export function RevokeKeyDialog({ forKey, onClose }: { forKey: Key | undefined; onClose(): void }) {
  const { id } = useAccount();
  const revoke = useAction<Key>({
    run: key => remove(`/accounts/${id}/keys/${key.id}`),
    done: (_, key) => `The key ${key.name} is ${key.expired ? 'removed' : 'revoked'}.`,
    refresh: [
      ['keys', id],
      ['overview', id],
    ],
    after: onClose,
    errorInPlace: true,
  });
  const close = () => {
    revoke.reset();
    onClose();
  };
  const expired = forKey?.expired ?? false;
  return (
    <ConfirmDialog
      opened={forKey !== undefined}
      onClose={close}
      title={expired ? 'Remove this key?' : 'Revoke this key?'}
      confirm={expired ? 'Remove the key' : 'Revoke the key'}
      danger
      onConfirm={() => forKey && revoke.mutate(forKey)}
      busy={revoke.isPending}
      error={revoke.error}
      {...(forKey && !expired && { typed: forKey.name })}
    >
      {expired ? (
        <>
          The key {forKey?.name} (…{forKey?.last4}) has expired and works no more. It goes from this
          list.{' '}
        </>
      ) : (
        <>
          The next request with the key {forKey?.name} (…{forKey?.last4}) is refused with 401.
          Renders that run already are finished. This cannot be taken back.{' '}
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
