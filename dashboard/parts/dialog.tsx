// A modal dialog. On close the focus returns to the opener, or to the page heading if the opener no
// longer exists.
import { Modal, type ModalProps } from '@mantine/core';
import { useEffect } from 'react';
import { HEADING_ID } from './page-header.tsx';

export const isDialogOpen = () => document.querySelector('[role="dialog"]') !== null;
const isLost = () => document.activeElement === null || document.activeElement === document.body;

/**
 * Restores the focus. Observes the document until the focus moves elsewhere, since the opener may
 * be removed a moment later, as the row of a revoked key is.
 */
function restoreFocus(opener: Element | null): () => void {
  const put = () => {
    if (isDialogOpen() || !isLost()) return;
    const usable = opener instanceof HTMLElement && opener !== document.body && opener.isConnected;
    (usable ? opener : document.getElementById(HEADING_ID))?.focus({ preventScroll: true });
  };
  const watch = new MutationObserver(put);
  const stop = () => {
    watch.disconnect();
    document.removeEventListener('focusin', elsewhere);
    document.removeEventListener('pointerdown', stop);
  };
  function elsewhere({ target }: FocusEvent) {
    if (target !== opener) stop();
  }
  document.addEventListener('focusin', elsewhere);
  // A click elsewhere drops the focus on purpose.
  document.addEventListener('pointerdown', stop);
  watch.observe(document.body, { childList: true, subtree: true });
  put();
  return stop;
}

/** Only one opener is observed at a time: the next dialog has its own. */
let stopObserving = () => {};

export function useFocusReturn(opened: boolean): void {
  useEffect(() => {
    if (!opened) return;
    stopObserving();
    const opener = document.activeElement;
    return () => {
      stopObserving = restoreFocus(opener);
    };
  }, [opened]);
}

interface Props extends ModalProps {
  /** Keeps the dialog open on Escape and outside clicks, for secrets that are shown only once. */
  keep?: boolean;
}

export function Dialog({ keep = false, ...props }: Props) {
  useFocusReturn(props.opened);
  return (
    <Modal
      centered
      returnFocus={false}
      closeOnClickOutside={!keep}
      closeOnEscape={!keep}
      closeButtonProps={{ 'aria-label': 'Close' }}
      {...props}
    />
  );
}
