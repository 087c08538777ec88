// The main document from the first request to the print, since a page may navigate at any time: its
// status and redirects, blocked requests, and whether a navigation is pending. Owns its errors.

import { ApiError, renderFailed } from '../../common/contract/errors.ts';
import {
  EGRESS_DENIED,
  EGRESS_REFUSED,
  EGRESS_TIMED_OUT,
  type EgressDenied,
  type Unreachable,
} from '../../common/protocol.ts';
import type { Session } from '../workers/session.ts';
import type { RenderSettings } from './render-settings.ts';

/** `refused`, `timeout`: the guard allows the server, which refused or did not respond. */
export type NoConnection = EgressDenied['reason'] | Unreachable;

/**
 * A target in the guard's notation; empty for a URL that Chrome accepts and Node does not, such as
 * `http://a%20b/`.
 */
export function hostPort(url: string): string {
  const at = URL.parse(url);
  if (!at) return '';
  const { hostname, port, protocol } = at;
  return `${hostname.replace(/^\[|\]$|\.$/g, '').toLowerCase()}:${port || (protocol === 'https:' || protocol === 'wss:' ? 443 : 80)}`;
}

const LIMITS: ReadonlySet<string> = new Set(['requests', 'connections', 'bytes']);

/**
 * Watches from now on. The guard reports before it closes the connection, so the reason is known
 * before the load fails.
 */
export function watchBlockedRequests(session: Session) {
  const reasons = new Map<string, NoConnection>();
  let overLimit = false;
  const set = (host: string, port: number, reason: NoConnection) =>
    reasons.set(`${host.toLowerCase()}:${port}`, reason);
  session.on(EGRESS_DENIED, ({ host, port, reason }) => {
    set(host, port, reason);
    overLimit ||= LIMITS.has(reason);
  });
  session.on(EGRESS_REFUSED, ({ host, port }) => set(host, port, 'refused'));
  session.on(EGRESS_TIMED_OUT, ({ host, port }) => set(host, port, 'timeout'));
  return {
    /** Why there was no connection to the URL's server; undefined when there was one. */
    of: (url: string): NoConnection | undefined =>
      /^https?:/.test(url) ? reasons.get(hostPort(url)) : undefined,
    /** A network limit of the render has been reached, which the guard reports once for all hosts. */
    isOverLimit: (): boolean => overLimit,
  };
}
export type BlockedRequests = ReturnType<typeof watchBlockedRequests>;

export const MAX_REDIRECTS = 10;

// The worker's egress guard (worker/egress/address-rule.ts) blocks the address, also of a redirect.
const SSRF = 'The page or a redirect points to an address that is not public. Use a public URL.';

const CONNECTION_REFUSED = 'the server refused the connection';
export const UNREACHABLE: Record<Unreachable, string> = {
  refused: CONNECTION_REFUSED,
  timeout: 'the server did not respond in time',
};
export const isUnreachable = (reason: string | undefined): reason is Unreachable =>
  reason !== undefined && Object.hasOwn(UNREACHABLE, reason);

const PLAIN: Record<string, string> = {
  'net::ERR_ABORTED': 'the response is not a page (a download, or an empty response)',
  'net::ERR_EMPTY_RESPONSE': 'the server closed the connection without a response',
  'net::ERR_TUNNEL_CONNECTION_FAILED': 'the server could not be reached',
  'net::ERR_CONNECTION_REFUSED': CONNECTION_REFUSED,
  'net::ERR_TOO_MANY_REDIRECTS': 'there are too many redirects',
  'net::ERR_CERT_AUTHORITY_INVALID': "the server's certificate is not trusted",
  'net::ERR_CERT_COMMON_NAME_INVALID': "the server's certificate is for another name",
  'net::ERR_CERT_DATE_INVALID': "the server's certificate has expired or is not valid yet",
};

/** Chrome's network error in plain English. */
export const netErrorMessage = (errorText: string): string =>
  PLAIN[errorText] ??
  errorText
    .replace(/^net::ERR_/, '')
    .replaceAll('_', ' ')
    .toLowerCase();

function verdict(url: string, errorText: string, denied: NoConnection | undefined): Error {
  if (denied === 'address' || denied === 'port') return new ApiError('ssrf_blocked', SSRF);
  if (denied === 'name' || denied === 'unresolved')
    return renderFailed(
      'page_unreachable',
      'The page could not be opened: its host name does not resolve. Check the URL.',
    );
  if (denied && !isUnreachable(denied))
    return renderFailed(
      'output_limit',
      'The page exceeded the network limits of a render. Load fewer or smaller resources.',
    );
  const cause = { url: hostPort(url), errorText };
  const problem = denied ? UNREACHABLE[denied] : netErrorMessage(errorText);
  return renderFailed('page_unreachable', `The page could not be opened: ${problem}.`, { cause });
}

/**
 * Watches from now on. With `html` it fails only when a script navigates the page elsewhere.
 */
export function watchMainDocument(
  session: Session,
  source: RenderSettings['source'],
  blockedRequests: BlockedRequests,
) {
  const failed = Promise.withResolvers<never>();
  failed.promise.catch(() => {});
  const current = { requestId: '', url: '', redirects: 0 };
  const raise = source.kind === 'url' ? source.raiseForStatus : 'never';

  session.on(
    'Network.requestWillBeSent',
    ({ requestId, frameId, type, request, redirectResponse }) => {
      if (type !== 'Document' || frameId !== session.frameId) return;
      current.redirects =
        redirectResponse && requestId === current.requestId ? current.redirects + 1 : 0;
      current.requestId = requestId;
      current.url = request.url;
      if (redirectResponse && raise === 'all')
        failed.reject(
          renderFailed(
            'page_status',
            `The page returned ${redirectResponse.status}, a redirect, and \`raise_for_status\` is true. Set it to false, or send the final URL.`,
          ),
        );
      if (current.redirects > MAX_REDIRECTS)
        failed.reject(
          renderFailed(
            'page_unreachable',
            `The page could not be opened: there are more than ${MAX_REDIRECTS} redirects.`,
          ),
        );
    },
  );
  session.on('Network.responseReceived', ({ requestId, response }) => {
    if (requestId !== current.requestId || response.status < 400 || raise === 'never') return;
    failed.reject(
      renderFailed(
        'page_status',
        `The page returned ${response.status}. Set \`raise_for_status\` to false to print error pages.`,
      ),
    );
  });
  // Without the Network domain (html) this event reveals a navigation by script to a blocked
  // address.
  session.on('Page.frameNavigated', ({ frame }) => {
    if (frame.id !== session.frameId) return;
    // The slot's own blank page is the first in the history. Its PDF would look like a success.
    if (source.kind === 'url' && frame.url === 'about:blank')
      failed.reject(
        renderFailed(
          'page_unreachable',
          'The page navigated to an empty page (about:blank), for example by going back in its history.',
        ),
      );
    if (frame.unreachableUrl)
      failed.reject(
        verdict(
          frame.unreachableUrl,
          'net::ERR_TUNNEL_CONNECTION_FAILED',
          blockedRequests.of(frame.unreachableUrl),
        ),
      );
  });
  session.on('Network.loadingFailed', ({ requestId, errorText, canceled }) => {
    // A document that a later navigation replaced was canceled; it did not fail.
    if (requestId === current.requestId && !canceled)
      failed.reject(verdict(current.url, errorText, blockedRequests.of(current.url)));
  });

  return {
    /** Rejects with the ApiError when the main document fails; never resolves. */
    failed: failed.promise,
    /** The error of a navigation that Chrome aborted (`errorText` of `Page.navigate`). */
    navigationError: (url: string, errorText: string): Error =>
      verdict(current.url || url, errorText, blockedRequests.of(current.url || url)),
  };
}
export type MainDocument = ReturnType<typeof watchMainDocument>;

/**
 * Watches from now on, on a page after its load event. Chrome reports a navigation by a script
 * before it responds to the command that ran the script.
 */
export function watchScriptNavigation(session: Session) {
  let state: 'idle' | 'requested' | 'loading' = 'idle';
  let onIdle = () => {};
  const isMain = (frameId: string) => frameId === session.frameId;

  session.on('Page.frameRequestedNavigation', ({ frameId, disposition }) => {
    if (isMain(frameId) && disposition === 'currentTab') state = 'requested';
  });
  session.on('Page.frameStartedNavigating', ({ frameId, navigationType }) => {
    if (isMain(frameId) && !/samedocument/i.test(navigationType)) state = 'loading';
  });
  session.on('Page.frameStoppedLoading', ({ frameId }) => {
    if (!isMain(frameId) || state !== 'loading') return;
    state = 'idle';
    onIdle();
  });

  return {
    /**
     * Resolves when no navigation is pending: at the new document's load event, or when it led to no
     * document (a download, an empty response).
     */
    settled: () =>
      new Promise<void>(resolve => {
        if (state === 'idle') return resolve();
        onIdle = resolve;
      }),
  };
}

const CUT_OFF =
  'The page could not be opened: before it had loaded, it navigated to something that is not a page (a download, an empty response, a link to another app).';

export function watchNavigation(session: Session) {
  let documents = 0;
  let leaving = false;
  let isLoaded = false;
  const newPromise = () => {
    const made = Promise.withResolvers<void>();
    made.promise.catch(() => {}); // it may have no other handler
    return made;
  };
  let loaded = newPromise();
  const settle = () => {
    isLoaded = true;
    loaded.resolve();
  };
  const isMain = (frameId: string) => frameId === session.frameId;

  session.on('Page.frameNavigated', ({ frame }) => {
    if (!isMain(frame.id)) return;
    documents++;
    leaving = false;
    if (isLoaded) loaded = newPromise();
    isLoaded = false;
  });
  session.on('Page.frameRequestedNavigation', ({ frameId, disposition }) => {
    leaving ||= isMain(frameId) && disposition === 'currentTab';
  });
  session.on('Page.loadEventFired', settle);
  // Fires after the load event, or instead of it. It does not fire for HTML written into the blank
  // page, but for each step in its history.
  session.on('Page.frameStoppedLoading', ({ frameId }) => {
    if (!isMain(frameId)) return;
    if (leaving) loaded.reject(renderFailed('page_unreachable', CUT_OFF));
    else if (documents > 0) settle();
  });

  return {
    /** Main documents that have begun so far. */
    documents: () => documents,
    /**
     * Resolves when the current document, or one that replaced it, has loaded or stopped itself
     * (`window.stop()`). Rejects with render_failed when it was replaced by something that is not a
     * page.
     */
    loaded: () => loaded.promise,
  };
}
export type Navigation = ReturnType<typeof watchNavigation>;
