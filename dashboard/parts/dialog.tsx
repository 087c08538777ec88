// A dialog, and where the focus goes when it is closed: to what opened it, or to the screen's
// heading when that has gone.
import { Modal, type ModalProps } from '@mantine/core';
import { useEffect } from 'react';
import { HEADING_ID } from './page-header.tsx';

const isOpen = () => document.querySelector('[role="dialog"]') !== null;
const isLost = () => document.activeElement === null || document.activeElement === document.body;

/**
 * Gives the focus back. What opened the dialog may go a moment later, as the row of a revoked key
 * does: watched until the focus is elsewhere.
 */
function giveFocusBack(opener: Element | null): () => void {
  const put = () => {
    if (isOpen() || !isLost()) return;
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
  // Who presses beside everything has let go of it.
  document.addEventListener('pointerdown', stop);
  watch.observe(document.body, { childList: true, subtree: true });
  put();
  return stop;
}

/** One is watched at a time: the next dialog has its own opener. */
let stopWatching = () => {};

export function useFocusBack(opened: boolean): void {
  useEffect(() => {
    if (!opened) return;
    stopWatching();
    const opener = document.activeElement;
    return () => {
      stopWatching = giveFocusBack(opener);
    };
  }, [opened]);
}

interface Props extends ModalProps {
  /**
   * Something in it is shown only once: a click beside the dialog or a slip of the hand must not
   * take it away.
   */
  keep?: boolean;
}

export function Dialog({ keep = false, ...props }: Props) {
  useFocusBack(props.opened);
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
