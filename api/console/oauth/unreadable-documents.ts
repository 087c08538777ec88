// What the app and the log hear while the document in which an app describes itself cannot be read.
// Not that the app is unknown: apps then forget all that they were given, and the person would have
// to connect them again because a site was slow for a moment.
import type { Provider, ProviderContext } from 'oidc-provider';
import type { Log } from '../../../common/log.ts';
import type { ClientFetch } from './client-fetch.ts';
import { ClientRefused } from './client-metadata.ts';
import type { CountOAuthEvent } from './oauth-metrics.ts';

/** The library's message for a document that it could not download. */
export const UNREADABLE = /^client_id metadata document fetch/;

const ANSWER = {
  error: 'temporarily_unavailable',
  error_description: 'The document at client_id cannot be read at the moment. Try again.',
};

interface Failed {
  error_description?: string;
  error_detail?: string;
  /** What the fetch threw. */
  cause?: unknown;
}

/** A site that has no such document any more, or says something else in it, says so by itself. */
const mayPass = ({ cause, error_detail = '' }: Failed) =>
  !(cause instanceof ClientRefused) && !/^unexpected response status [34]/.test(error_detail);

/** For the calls that an app makes by itself; people get a page. */
export function reportUnreadable(provider: Provider): void {
  const report = (ctx: ProviderContext, error: Failed) => {
    if (!UNREADABLE.test(error.error_description ?? '') || !mayPass(error)) return;
    ctx.status = 503;
    ctx.body = ANSWER;
  };
  provider.on('grant.error', report);
  provider.on('revocation.error', report);
}

interface Watching {
  count: CountOAuthEvent;
  log: Log;
  /** Of the call in whose course a document is asked for. */
  ctx(): ProviderContext | undefined;
}

/** The same `fetch`, which logs and counts a failed download of a document. */
export function watchedFetch(fetch: ClientFetch, { count, log, ctx }: Watching): ClientFetch {
  return async (url, options) => {
    const unreadable = (reason: string) => {
      // Else the library asks for it once more, to see where the refusal may be sent.
      const call = ctx();
      if (call) call.oidc.noclient = true;
      count('document_unreadable');
      log.info({ host: new URL(url).host, reason }, 'the document of an app could not be read');
    };
    try {
      const answer = await fetch(url, options);
      if (answer.status !== 200) unreadable(`it was answered with ${answer.status}`);
      return answer;
    } catch (error) {
      unreadable((error as Error).message);
      throw error;
    }
  };
}
