// The port between the OAuth server and the resource that it protects: who calls with an access
// token, and for which account.

/** The only scope. */
export const SCOPE = 'render';

/** What a user has authorized a client to do. */
export interface GrantedAccess {
  /** The user's id. */
  user: string;
  /** The account that the client acts for. The user is a member whose role may render. */
  account: string;
  clientId: string;
  /** The name that the client gave itself; may be empty. */
  clientName: string;
  /** The id of the consent. Ending it ends all its tokens. */
  grantId: string;
}

export interface AccessTokens {
  /**
   * Undefined for a token that is unknown, expired, revoked or for another resource, and for a user
   * who is disabled or may not render in the account any more. Changes apply to the next call.
   */
  verify(token: string, resource: string): Promise<GrantedAccess | undefined>;
}
