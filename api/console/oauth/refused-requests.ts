// Where an authorization request ends that is refused before anybody was asked. Owns when that is a
// page of ours instead of a redirect, and the way on from it.
import type { ProviderContext } from 'oidc-provider';
import { isLoopback } from './redirects.ts';

export interface OAuthErrorFields {
  error: string;
  error_description?: string;
}

/**
 * Handles the library's event of that name. Anyone may register an app, and could otherwise
 * redirect people from our address to any site or program
 * (https://www.rfc-editor.org/rfc/rfc9700#section-4.11.2): they get a page with a link. Loopback
 * addresses are redirected to, since a program waits there and it is not a site. After consent,
 * responses redirect to the app.
 */
export function keepRefused(
  { oidc, query }: ProviderContext,
  error: { allow_redirect: boolean },
): void {
  const { redirect_uri } = oidc.params ?? query;
  const toLoopback = typeof redirect_uri === 'string' && isLoopback(redirect_uri);
  if (oidc.route === 'authorization' && !toLoopback) error.allow_redirect = false;
}

/**
 * The app's address with the refusal, to be followed by the person; undefined when it is none of
 * the app's.
 */
export function onward({ oidc }: ProviderContext, refusal: OAuthErrorFields): string | undefined {
  const uri = oidc.params?.['redirect_uri'];
  if (typeof uri !== 'string' || !oidc.client?.redirectUriAllowed(uri)) return undefined;
  const url = new URL(uri);
  for (const [name, value] of Object.entries(refusal))
    if (typeof value === 'string') url.searchParams.set(name, value);
  return url.href;
}
