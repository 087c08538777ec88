// Focuses the next step of a dialog: the focus would be lost with the button that was clicked.
import { useEffect, useRef } from 'react';

/**
 * A ref for the element to focus on mount. An element that is not focusable needs `tabIndex={-1}`.
 */
export function useFocusOnMount<T extends HTMLElement>() {
  const ref = useRef<T>(null);
  useEffect(() => ref.current?.focus(), []);
  return ref;
}
