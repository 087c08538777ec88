// The cookies of the dashboard. Owns their names and attributes; what is in them is for others.
import type { Context } from '../../http/state.ts';

export interface Cookies {
  session(ctx: Context): string | undefined;
  setSession(ctx: Context, token: string, maxAgeMs: number): void;
  /**
   * A cookie of a few minutes, for what stands between two pages: a sign-in whose second factor is
   * missing, or one at the company.
   */
  passing(ctx: Context, name: PassingName): string | undefined;
  setPassing(ctx: Context, name: PassingName, value: string, maxAgeMs: number): void;
  clear(ctx: Context, name: PassingName | 'session'): void;
}
export type PassingName = 'second-factor' | 'invitation' | 'company' | 'next' | 'device';

/**
 * Safari stores no Secure cookie that came over http, not even from localhost
 * (https://bugs.webkit.org/show_bug.cgi?id=281149).
 */
const isSafari = (userAgent: string) =>
  /\bSafari\//.test(userAgent) && !/\b(Chrome|Chromium|HeadlessChrome)\//.test(userAgent);

/**
 * `__Host-` keeps other hosts of the domain from setting it, and needs Secure, which browsers take
 * for https and for http on localhost alone: an installation that is reached by plain http under
 * another name has cookies without both (`npm start` and the log say that passwords then travel in
 * the open).
 */
export function createCookies(publicUrl: string): Cookies & { secure: boolean } {
  const { protocol, hostname } = new URL(publicUrl);
  const https = protocol === 'https:';
  const secure = https || hostname === 'localhost' || hostname.endsWith('.localhost');
  const securely = (ctx: Context) => secure && (https || !isSafari(ctx.get('User-Agent')));

  /**
   * Only what a browser itself puts between two cookies is taken off. `trim` takes a no-break space
   * too, and a cookie with one before its name is of another name to the browser: any host of the
   * domain may set it, `__Host-` or not (PortSwigger's research on cookie prefixes, 2025).
   */
  function read(ctx: Context, name: string): string | undefined {
    const wanted = `${securely(ctx) ? '__Host-' : ''}pressroom-${name}=`;
    const found = (ctx.get('Cookie') || '')
      .split(';')
      .map(each => each.replace(/^[ \t]+/, ''))
      .find(each => each.startsWith(wanted));
    return found?.slice(wanted.length) || undefined;
  }

  function write(ctx: Context, name: string, value: string, maxAgeMs: number): void {
    const [prefix, own] = securely(ctx) ? ['__Host-', ['Secure']] : ['', []];
    // Lax, not Strict: who follows a link from a mail into the dashboard is signed in. What changes
    // anything is held by Origin and Fetch Metadata.
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
    session: ctx => read(ctx, 'session'),
    setSession: (ctx, token, maxAgeMs) => write(ctx, 'session', token, maxAgeMs),
    passing: read,
    setPassing: write,
    clear: (ctx, name) => write(ctx, name, '', 0),
  };
}
