// The cookies of the dashboard. Owns their names and attributes, not their contents.
import type { Context } from '../../http/state.ts';

export type Cookies = ReturnType<typeof createCookies>;

/** Short-lived cookies between two pages, such as a pending two-factor or SSO login. */
type PassingName = 'second-factor' | 'invitation' | 'company' | 'device';
type Name = PassingName | 'session';

/**
 * Safari stores no Secure cookie that came over http, not even from localhost
 * (https://bugs.webkit.org/show_bug.cgi?id=281149).
 */
const isSafari = (userAgent: string) =>
  /\bSafari\//.test(userAgent) && !/\b(Chrome|Chromium|HeadlessChrome)\//.test(userAgent);

/**
 * The prefix `__Host-` prevents other hosts of the domain from setting the cookie. It needs `Secure`,
 * which browsers accept only over https and on localhost; plain http elsewhere has neither, and the
 * log warns about it.
 */
export function createCookies(publicUrl: string) {
  const { protocol, hostname } = new URL(publicUrl);
  const https = protocol === 'https:';
  const secure = https || hostname === 'localhost' || hostname.endsWith('.localhost');
  const securely = (ctx: Context) => secure && (https || !isSafari(ctx.get('User-Agent')));

  /**
   * Removes only spaces and tabs between cookies. `trim` also removes a no-break space, with which
   * other hosts of the domain can fake the `__Host-` prefix (PortSwigger's research on cookie
   * prefixes, 2025).
   */
  function read(ctx: Context, name: Name): string | undefined {
    const prefix = `${securely(ctx) ? '__Host-' : ''}pressroom-${name}=`;
    const found = (ctx.get('Cookie') || '')
      .split(';')
      .map(each => each.replace(/^[ \t]+/, ''))
      .find(each => each.startsWith(prefix));
    return found?.slice(prefix.length) || undefined;
  }

  function write(ctx: Context, name: Name, value: string, maxAgeMs: number): void {
    const [prefix, own] = securely(ctx) ? ['__Host-', ['Secure']] : ['', []];
    // Lax, not Strict: links from an email open the dashboard signed in. Changes are protected by
    // Origin and Fetch Metadata.
    const attributes = [
      'Path=/',
      'HttpOnly',
      'SameSite=Lax',
      `Max-Age=${Math.floor(maxAgeMs / 1_000)}`,
      ...own,
    ];
    ctx.append('Set-Cookie', [`${prefix}pressroom-${name}=${value}`, ...attributes].join('; '));
  }

  return {
    secure,
    session: (ctx: Context) => read(ctx, 'session'),
    setSession: (ctx: Context, token: string, maxAgeMs: number) =>
      write(ctx, 'session', token, maxAgeMs),
    passing: (ctx: Context, name: PassingName) => read(ctx, name),
    setPassing: (ctx: Context, name: PassingName, value: string, maxAgeMs: number) =>
      write(ctx, name, value, maxAgeMs),
    clear: (ctx: Context, name: Name) => write(ctx, name, '', 0),
  };
}
