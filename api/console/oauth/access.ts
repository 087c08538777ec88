// Who calls with an access token, and what for: the port between the OAuth server and what it
// protects.

/** The one thing that tokens are good for. */
export const SCOPE = 'render';

/** What a person allowed a client. */
export interface GrantedAccess {
  /** The user's id. */
  user: string;
  /**
   * The account in whose name the client acts; the person is a member of it now, in a role that may
   * render.
   */
  account: string;
  clientId: string;
  /** What the client calls itself; empty when it says nothing. */
  clientName: string;
  /** Names the consent: ending it ends every token that came of it. */
  grantId: string;
}

export interface AccessTokens {
  /**
   * Undefined for a token that is unknown, expired, revoked, or for another resource than
   * `resource`, for a person who is disabled, and for one who is no member of the account any more
   * or may not render in it. What was taken away is gone with the next call.
   */
  verify(token: string, resource: string): Promise<GrantedAccess | undefined>;
}
