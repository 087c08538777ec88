// Cancels an asynchronous render after a confirmation.
import type { AsyncRenderView } from '../../api/console/contract/async-renders.ts';
import { ConfirmDialog } from '../parts/confirm-dialog.tsx';
import { useAction } from '../parts/use-action.ts';
import { remove } from '../session/api.ts';
import { useAccount } from '../session/session.tsx';

interface Props {
  render: AsyncRenderView;
  opened: boolean;
  onClose(): void;
}

export function CancelRenderDialog({ render, opened, onClose }: Props) {
  const account = useAccount();
  const cancel = useAction({
    run: () => remove(`/accounts/${account.id}/async-renders/${render.id}`),
    done: 'Render canceled.',
    refresh: [
      ['async-render', account.id, render.id],
      ['async-renders', account.id],
    ],
    after: onClose,
    errorInPlace: true,
  });
  const close = () => {
    cancel.reset();
    onClose();
  };
  return (
    <ConfirmDialog
      opened={opened}
      onClose={close}
      title="Cancel this render?"
      confirm="Cancel render"
      dismiss="Keep render"
      danger
      onConfirm={() => cancel.mutate()}
      busy={cancel.isPending}
      error={cancel.error}
    >
      A queued render will not start. A running one stops within a second. A canceled render has no
      PDF and does not count toward your usage. This cannot be undone.
    </ConfirmDialog>
  );
}
