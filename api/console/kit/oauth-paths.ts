// The paths of the OAuth server and of its consent page, shared by the pages and the server.

export const OAUTH_PATHS = {
  authorization: '/oauth/authorize',
  token: '/oauth/token',
  revocation: '/oauth/revoke',
  registration: '/oauth/register',
  jwks: '/oauth/jwks',
} as const;

/** The consent page. Below /app, so that a sign-in can return to it. */
export const consentPath = (uid: string): string => `/app/allow/${uid}`;
