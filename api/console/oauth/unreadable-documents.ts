// Responses and logs while the metadata document of an app cannot be read. The error is not
// `invalid_client`, upon which apps discard their tokens and users must connect them again.
import type { Provider, ProviderContext } from 'oidc-provider';
import type { Log } from '../../../common/log.ts';
import type { ClientFetch } from './client-fetch.ts';
import { InvalidClient } from './client-metadata.ts';
import type { CountOAuthEvent } from './oauth-metrics.ts';

/** The library's message for a document that it could not download. */
export const UNREADABLE = /^client_id metadata document fetch/;

const RESPONSE = {
  error: 'temporarily_unavailable',
  error_description: 'The document at client_id is temporarily unavailable. Try again.',
};

interface Failed {
  error_description?: string;
  error_detail?: string;
  /** The error of the fetch. */
  cause?: unknown;
}

/** False for a missing or invalid document, which the library reports correctly. */
const isTemporary = ({ cause, error_detail = '' }: Failed) =>
  !(cause instanceof InvalidClient) && !/^unexpected response status [34]/.test(error_detail);

/** For calls by apps; people get a page. */
export function reportUnreadable(provider: Provider): void {
  const report = (ctx: ProviderContext, error: Failed) => {
    if (!UNREADABLE.test(error.error_description ?? '') || !isTemporary(error)) return;
    ctx.status = 503;
    ctx.body = RESPONSE;
  };
  provider.on('grant.error', report);
  provider.on('revocation.error', report);
}

interface Reporting {
  count: CountOAuthEvent;
  log: Log;
  /** The context of the call that needs the document. */
  ctx(): ProviderContext | undefined;
}

/** `fetch` that also logs and counts failed downloads. */
export function reportedFetch(fetch: ClientFetch, { count, log, ctx }: Reporting): ClientFetch {
  return async (url, options) => {
    const unreadable = (reason: string) => {
      // Otherwise the library fetches it again to find the redirect URI for the error.
      const call = ctx();
      if (call) call.oidc.noclient = true;
      count('document_unreadable');
      log.info(
        { host: new URL(url).host, reason },
        'could not read the metadata document of an app',
      );
    };
    try {
      const response = await fetch(url, options);
      if (response.status !== 200) unreadable(`the site responded with status ${response.status}`);
      return response;
    } catch (error) {
      unreadable((error as Error).message);
      throw error;
    }
  };
}
