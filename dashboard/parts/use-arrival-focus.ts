// The focus of what takes another's place in a dialog: else it is lost with the button that was
// pressed.
import { useEffect, useRef } from 'react';

/**
 * A ref for what takes the focus as soon as it is there. What is no field or button needs
 * `tabIndex={-1}`.
 */
export function useArrivalFocus<T extends HTMLElement>() {
  const place = useRef<T>(null);
  useEffect(() => place.current?.focus(), []);
  return place;
}
