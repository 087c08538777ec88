// A relative time with the exact time as its tooltip. Updates every 30 seconds.
import { useEffect, useState } from 'react';
import { formatRelative, formatTime } from './format.ts';

/** `at`: ISO 8601. `exact` swaps text and tooltip. */
export function When({ at, exact = false }: { at: string; exact?: boolean }) {
  const [, again] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => again(times => times + 1), 30_000);
    return () => clearInterval(timer);
  }, []);
  return (
    <time dateTime={at} title={exact ? formatRelative(at) : formatTime(at)}>
      {exact ? formatTime(at) : formatRelative(at)}
    </time>
  );
}
