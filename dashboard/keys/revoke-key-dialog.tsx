// Revokes a key, after its name was typed: programs that use it fail from then on.
import type { Key } from '../../api/console/contract/accounts.ts';
import { remove } from '../api.ts';
import { ConfirmDialog } from '../parts/confirm-dialog.tsx';
import { useAction } from '../parts/use-action.ts';
import { When } from '../parts/when.tsx';
import { useAccount } from '../session.tsx';

/** `forKey`: the key to be revoked; the dialog is open while there is one. */
export function RevokeKeyDialog({ forKey, onClose }: { forKey: Key | undefined; onClose(): void }) {
  const { id } = useAccount();
  const revoke = useAction<Key>({
    run: key => remove(`/accounts/${id}/keys/${key.id}`),
    done: (_, key) => `The key ${key.name} is revoked.`,
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
  return (
    <ConfirmDialog
      opened={forKey !== undefined}
      onClose={close}
      title="Revoke this key?"
      confirm="Revoke the key"
      danger
      onConfirm={() => forKey && revoke.mutate(forKey)}
      busy={revoke.isPending}
      error={revoke.error}
      {...(forKey && !forKey.expired && { typed: forKey.name })}
    >
      The next request with the key {forKey?.name} (…{forKey?.last4}) is refused with 401. Renders that run already are finished. This
      cannot be taken back.{' '}
      {forKey?.lastUsedAt && (
        <>
          It was last used <When at={forKey.lastUsedAt} />.
        </>
      )}
    </ConfirmDialog>
  );
}
