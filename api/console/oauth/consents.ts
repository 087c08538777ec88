// A consent on its way: what the page shows, and what becomes of the person's answer.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Provider } from 'oidc-provider';
import { SCOPE } from './access.ts';
import type { Grants } from './grants.ts';
import type { CountOAuthEvent } from './oauth-metrics.ts';
import { redirectName } from './redirects.ts';

/** An app that asks. */
export interface Asking {
  clientId: string;
  /** What it calls itself; empty when it says nothing. */
  clientName: string;
  /** Where the answer goes. */
  redirectUri: string;
}

export interface Consents {
  /** Undefined when nothing of this name is on its way in this browser. */
  find(
    request: IncomingMessage,
    response: ServerResponse,
    uid: string,
  ): Promise<Asking | undefined>;
  /** Where the browser goes on. `account`: checked before. */
  allow(
    request: IncomingMessage,
    response: ServerResponse,
    asking: Asking,
    by: { user: string; account: string },
  ): Promise<string>;
  deny(request: IncomingMessage, response: ServerResponse): Promise<string>;
}

interface Deps {
  provider(): Promise<Provider>;
  grants: Grants;
  count: CountOAuthEvent;
  resource: string;
}

/**
 * The library's error of a consent that is not there. Its class is loaded with the library alone.
 */
const isGone = (error: unknown) => error instanceof Error && error.name === 'SessionNotFound';

const ONCE = { mergeWithLastSubmission: false };

export function createConsents({ provider, grants, count, resource }: Deps): Consents {
  return {
    find: async (request, response, uid) => {
      try {
        const {
          uid: found,
          params,
          prompt,
        } = await (await provider()).interactionDetails(request, response);
        // The cookie belongs to the path; a page of another name in this one is somebody's try.
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
    allow: async (request, response, { clientId, clientName, redirectUri }, { user, account }) => {
      const given = await provider();
      const grant = new given.Grant({ accountId: user, clientId });
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
      const onward = await given.interactionResult(request, response, result, ONCE);
      count('consent_allowed');
      return onward;
    },
    deny: async (request, response) => {
      const result = { error: 'access_denied', error_description: 'the person did not allow it' };
      const onward = await (await provider()).interactionResult(request, response, result, ONCE);
      count('consent_denied');
      return onward;
    },
  };
}
