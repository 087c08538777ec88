// Authorization requests that fail before consent: whether the error is shown on our page or is a
// redirect to the app, and the link from the page to the app.
import type { ProviderContext } from 'oidc-provider';
import { isLoopback } from './redirects.ts';

export interface OAuthErrorFields {
  error: string;
  error_description?: string;
}

/**
 * Handles `authorization.error`. Anyone may register an app and could otherwise use our address as
 * an open redirector (https://www.rfc-editor.org/rfc/rfc9700#section-4.11.2), so errors before
 * consent are a page with a link. Loopback addresses are safe and get the redirect.
 */
export function keepErrorsHere(
  { oidc, query }: ProviderContext,
  error: { allow_redirect: boolean },
): void {
  const { redirect_uri } = oidc.params ?? query;
  const toLoopback = typeof redirect_uri === 'string' && isLoopback(redirect_uri);
  if (oidc.route === 'authorization' && !toLoopback) error.allow_redirect = false;
}

/** The app's redirect URI with the error; undefined when the URI is not the app's. */
export function errorRedirect(
  { oidc }: ProviderContext,
  error: OAuthErrorFields,
): string | undefined {
  const uri = oidc.params?.['redirect_uri'];
  if (typeof uri !== 'string' || !oidc.client?.redirectUriAllowed(uri)) return undefined;
  const url = new URL(uri);
  for (const [name, value] of Object.entries(error))
    if (typeof value === 'string') url.searchParams.set(name, value);
  return url.href;
}
