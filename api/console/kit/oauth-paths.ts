// The paths of the OAuth server and of its consent page, which pages and server share.

export const OAUTH_PATHS = {
  authorization: '/oauth/authorize',
  token: '/oauth/token',
  revocation: '/oauth/revoke',
  registration: '/oauth/register',
  jwks: '/oauth/jwks',
} as const;

/** Where a person is asked; below /app, so that signing in leads back to it. */
export const consentPath = (uid: string): string => `/app/allow/${uid}`;
