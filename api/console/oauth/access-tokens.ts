// Verifies access tokens. Nothing is cached between calls, so a revocation takes effect at once.

import type { Encryption } from '../../../common/encryption.ts';
import type { Store } from '../../store/store.ts';
import { type AccessTokens, SCOPE } from './access.ts';
import { documentId, openPayload } from './adapter.ts';
import type { Grants } from './grants.ts';

/** The format of the provider's tokens. */
const SHAPE = /^[\w-]{20,100}$/;

export function createAccessTokens(
  store: Store,
  encryption: Encryption,
  grants: Grants,
): AccessTokens {
  return {
    verify: async (token, resource) => {
      if (!SHAPE.test(token)) return undefined;
      const unexpired = {
        _id: documentId('AccessToken', token),
        expiresAt: { $gt: new Date() },
      };
      const payload = openPayload(
        encryption,
        await store.limited(store.console.oauth.findOne(unexpired, store.limits)),
      );
      const { grantId, aud, scope } = payload ?? {};
      if (grantId === undefined || aud !== resource || !String(scope).split(' ').includes(SCOPE))
        return undefined;
      const grant = await grants.valid(grantId);
      if (!grant || grant.user !== payload?.['accountId'] || grant.clientId !== payload.clientId)
        return undefined;
      await grants.used(grant);
      return {
        user: grant.user,
        account: grant.account,
        clientId: grant.clientId,
        clientName: grant.clientName,
        grantId,
      };
    },
  };
}
