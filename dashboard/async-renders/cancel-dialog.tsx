// Cancels an asynchronous render, or the rest of a batch, after a confirmation.
import type { ReactNode } from 'react';
import { ConfirmDialog } from '../parts/confirm-dialog.tsx';
import { useAction } from '../parts/use-action.ts';
import { remove } from '../session/api.ts';
import { useAccount } from '../session/session.tsx';

interface Props {
  /** Where it is in the management API, below the account. */
  folder: 'async-renders' | 'batches';
  /** The name of the query that shows it. */
  query: 'async-render' | 'async-batch';
  id: string;
  title: string;
  confirm: string;
  dismiss: string;
  /** The notice afterwards. */
  done: string;
  opened: boolean;
  onClose(): void;
  children: ReactNode;
}

export function CancelDialog({ folder, query, id, done, onClose, ...dialog }: Props) {
  const account = useAccount();
  const cancel = useAction({
    run: () => remove(`/accounts/${account.id}/${folder}/${encodeURIComponent(id)}`),
    done,
    refresh: [
      [query, account.id, id],
      ['async-renders', account.id],
    ],
    after: onClose,
    errorInPlace: true,
  });
  return (
    <ConfirmDialog
      {...dialog}
      onClose={onClose}
      danger
      action={cancel}
      onConfirm={() => cancel.mutate()}
    />
  );
}
