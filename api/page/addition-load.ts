// What became of a style sheet or script that the page loads for the caller: its status, its
// redirects, why it failed. Owns the errors that name `css` and `javascript`.
import { setTimeout as sleep } from 'node:timers/promises';
import { type ApiError, renderFailed } from '../../common/contract/errors.ts';
import { notPublic } from '../../common/contract/page-url.ts';
import { CONNECTION_REFUSED, inPlainWords } from './main-document.ts';
import type { Page } from './page.ts';

const KINDS = {
  css: { type: 'Stylesheet', what: 'a style sheet' },
  javascript: { type: 'Script', what: 'a script' },
} as const;

/**
 * Chrome keeps answers of other sites from a page that are no style sheet or script at all, an
 * error page in HTML for one.
 */
const WITHHELD = 'net::ERR_BLOCKED_BY_ORB';
/** For a status that is on its way, also on a machine that stands still for a moment. */
const STATUS_MS = 5_000;

const WORDS: Record<string, string> = {
  '': 'it did not answer',
  'mixed-content': 'the page is https, and loads nothing over http',
};

export interface AdditionLoad {
  /**
   * What is wrong with it once the page has heard of its end; undefined when it was answered with
   * 2xx and is what it should be. `ran`: the page's word.
   */
  problem(ran: boolean): Promise<ApiError | undefined>;
}

/**
 * Watches from now on for the request to `url`, which the page makes next; the Network domain is
 * on.
 */
export function watchAddition(
  { session, blockedRequests }: Pick<Page, 'session' | 'blockedRequests'>,
  field: keyof typeof KINDS,
  url: string,
): AdditionLoad {
  const { type: wanted, what } = KINDS[field];
  const [asked] = url.split('#');
  const statuses = new Map<string, number>();
  let onStatus = () => {};
  const load = { requestId: '', url: asked!, contentType: '', failure: '' };

  session.on(
    'Network.requestWillBeSent',
    ({ requestId, frameId, type, request, redirectResponse }) => {
      const isNext = redirectResponse !== undefined && requestId === load.requestId;
      if (!isNext && (type !== wanted || frameId !== session.frameId || request.url !== asked))
        return;
      Object.assign(load, { requestId, url: request.url, contentType: '', failure: '' });
      statuses.delete(requestId);
    },
  );
  // The only word of the status of an answer that Chrome keeps from the page. It may come before
  // the request is told of, or after its end is.
  session.on('Network.responseReceivedExtraInfo', ({ requestId, statusCode }) => {
    statuses.set(requestId, statusCode);
    onStatus();
  });
  session.on('Network.responseReceived', ({ requestId, response }) => {
    statuses.set(requestId, response.status);
    if (requestId !== load.requestId) return;
    const named = Object.entries(response.headers).find(
      ([name]) => name.toLowerCase() === 'content-type',
    )?.[1];
    load.contentType = named === undefined ? '' : response.mimeType;
  });
  session.on('Network.loadingFailed', ({ requestId, errorText, blockedReason }) => {
    if (requestId === load.requestId)
      load.failure = blockedReason === 'mixed-content' ? blockedReason : errorText;
  });

  /** Chrome has had an answer then, so that its status is on its way. */
  async function withheldStatus(): Promise<number | undefined> {
    const over = new AbortController();
    const told = new Promise<void>(resolve => {
      onStatus = () => statuses.has(load.requestId) && resolve();
      onStatus();
    });
    await Promise.race([
      told,
      sleep(STATUS_MS, undefined, { signal: over.signal }).catch(() => {}),
    ]);
    over.abort();
    return statuses.get(load.requestId);
  }

  return {
    problem: async ran => {
      const { host } = new URL(load.url);
      const failed = `\`${field}\` could not be loaded from ${host}`;
      const denied = ran ? undefined : blockedRequests.of(load.url);
      if (denied === 'address' || denied === 'port') return notPublic(field);
      if (denied === 'name' || denied === 'unresolved')
        return renderFailed('page_unreachable', `${failed}: its host name does not resolve.`);
      if (denied === 'refused')
        return renderFailed('page_unreachable', `${failed}: ${CONNECTION_REFUSED}.`);
      if (denied)
        return renderFailed(
          'output_limit',
          `${failed}: the page used more of the network than one render may.`,
        );
      const withheld = load.failure === WITHHELD;
      const status = withheld ? await withheldStatus() : statuses.get(load.requestId);
      if (status !== undefined && (status < 200 || status > 299))
        return renderFailed('page_status', `${failed}: it answered ${status}.`);
      const isOther = field === 'css' && load.contentType !== '' && load.contentType !== 'text/css';
      if (isOther)
        return renderFailed(
          'page_status',
          `${failed}: it answered with ${load.contentType}, which is not ${what}.`,
        );
      // A style sheet with a failing `@import` reports an error too, but applies.
      const applies = field === 'css' && status !== undefined && load.failure === '';
      if (ran || applies) return undefined;
      const notTaken =
        withheld ||
        (status !== undefined && (load.failure === '' || load.failure === 'net::ERR_ABORTED'));
      if (notTaken)
        return renderFailed('page_status', `${failed}: what it answered with is not ${what}.`);
      return renderFailed(
        'page_unreachable',
        `${failed}: ${WORDS[load.failure] ?? inPlainWords(load.failure)}.`,
      );
    },
  };
}
