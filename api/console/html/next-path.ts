// Where somebody goes after signing in: a page of the dashboard, never another site. Pure.

const ORIGIN = 'http://here';
/** Where it would lead round in a circle. */
const DOORS = /^\/app\/(?:(?:sign-in|setup)(?:\/|$)|invitation$)/;

/**
 * The path and query when `text` is a path at or below /app, as the browser itself would read it;
 * else `/app`.
 */
export function nextPath(text: unknown): string {
  if (typeof text !== 'string' || text.length > 1_000) return '/app';
  // A browser reads a backslash as a slash and drops tabs and line feeds; `//` would name a host.
  if (
    !/^\/app(?:[/?#]|$)/.test(text) ||
    /\\|\/\/|\p{C}|\s/u.test(text.split('?')[0]!) ||
    /\p{C}/u.test(text)
  )
    return '/app';
  if (!URL.canParse(text, ORIGIN)) return '/app';
  const { origin, pathname, search } = new URL(text, ORIGIN);
  const inside =
    origin === ORIGIN &&
    (pathname === '/app' || pathname.startsWith('/app/')) &&
    !pathname.includes('//');
  return inside && !DOORS.test(pathname) ? pathname + search : '/app';
}

/** `path` with `next` as its query, where it is worth saying. */
export const withNext = (path: string, next: string, more = ''): string => {
  const query = [
    ...(more ? [more] : []),
    ...(next === '/app' ? [] : [`next=${encodeURIComponent(next)}`]),
  ].join('&');
  return query === '' ? path : `${path}?${query}`;
};
