// The path after a sign-in: a page of the dashboard, never another site. Pure.

const ORIGIN = 'http://here';
/** Pages that would cause a redirect loop. */
const SIGN_IN_PAGES = /^\/app\/(?:(?:sign-in|setup)(?:\/|$)|invitation$)/;

/**
 * The path and query when `text`, as a browser parses it, is a path at or below /app; otherwise
 * `/app`.
 */
export function nextPath(text: unknown): string {
  if (typeof text !== 'string' || text.length > 1_000) return '/app';
  // Browsers treat a backslash as a slash and drop tabs and line feeds; `//` starts a host name.
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
  return inside && !SIGN_IN_PAGES.test(pathname) ? pathname + search : '/app';
}

/** `path` with the query parameter `next`, unless it is the default. */
export const withNext = (path: string, next: string, more = ''): string => {
  const query = [
    ...(more ? [more] : []),
    ...(next === '/app' ? [] : [`next=${encodeURIComponent(next)}`]),
  ].join('&');
  return query === '' ? path : `${path}?${query}`;
};
