// A connected app in words: what it is called, and where its consent was sent. Pure.
import type { ConnectedApps } from '../../api/console/contract/users.ts';

export type ConnectedApp = ConnectedApps['items'][number];

export const appName = ({ name }: Pick<ConnectedApp, 'name'>): string => name ?? 'An app that says no name';

/** `redirect` is a host with its port, or the scheme of a program with its colon. */
export function appPlace({ redirect }: Pick<ConnectedApp, 'redirect'>): string {
  if (/^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/.test(redirect)) return `A program on a computer (${redirect})`;
  return redirect.endsWith(':') ? `The program that opens ${redirect} links` : redirect;
}
