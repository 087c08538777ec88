// Pending consents: what the page shows, and the result of the user's choice.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Provider } from 'oidc-provider';
import { SCOPE } from './access.ts';
import type { Grants } from './grants.ts';
import type { CountOAuthEvent } from './oauth-metrics.ts';
import { redirectName } from './redirects.ts';

/** An app that asks for consent. */
export interface PendingConsent {
  clientId: string;
  /** The name that the app gave itself; may be empty. */
  clientName: string;
  /** Where the code is sent. */
  redirectUri: string;
}

interface Deps {
  provider(): Promise<Provider>;
  grants: Grants;
  count: CountOAuthEvent;
  resource: string;
}

/** The library's error for an unknown consent, by name, since the library is loaded lazily. */
const isGone = (error: unknown) => error instanceof Error && error.name === 'SessionNotFound';

const ONCE = { mergeWithLastSubmission: false };

export function createConsents({ provider, grants, count, resource }: Deps) {
  return {
    /** Undefined when this browser has no pending consent of this id. */
    find: async (
      request: IncomingMessage,
      response: ServerResponse,
      uid: string,
    ): Promise<PendingConsent | undefined> => {
      try {
        const {
          uid: found,
          params,
          prompt,
        } = await (await provider()).interactionDetails(request, response);
        // The cookie is bound to the path, so another id is an attack.
        if (found !== uid) return undefined;
        return {
          clientId: params['client_id']!,
          clientName: String(prompt.details['name'] ?? ''),
          redirectUri: params['redirect_uri']!,
        };
      } catch (error) {
        if (isGone(error)) return undefined;
        throw error;
      }
    },
    /** Returns the URL to continue at. The caller has checked `account`. */
    allow: async (
      request: IncomingMessage,
      response: ServerResponse,
      { clientId, clientName, redirectUri }: PendingConsent,
      { user, account }: { user: string; account: string },
    ) => {
      const library = await provider();
      const grant = new library.Grant({ accountId: user, clientId });
      grant.addResourceScope(resource, SCOPE);
      const grantId = await grant.save();
      await grants.begin({
        _id: grantId,
        user,
        account,
        clientId,
        clientName,
        redirect: redirectName(redirectUri),
      });
      const result = { login: { accountId: user, remember: false }, consent: { grantId } };
      const onward = await library.interactionResult(request, response, result, ONCE);
      count('consent_allowed');
      return onward;
    },
    deny: async (request: IncomingMessage, response: ServerResponse) => {
      const result = { error: 'access_denied', error_description: 'the user denied access' };
      const onward = await (await provider()).interactionResult(request, response, result, ONCE);
      count('consent_denied');
      return onward;
    },
  };
}
