// What became of a style sheet or script that the page loads for the caller: its status, its redirects, why it failed. Owns the errors that name `css` and `javascript`.
import { type ApiError, renderFailed } from '../contract/errors.ts';
import { notPublic } from '../contract/page-url.ts';
import { inPlainWords } from './main-document.ts';
import type { Page } from './page.ts';

const KINDS = {
  css: { type: 'Stylesheet', what: 'a style sheet' },
  javascript: { type: 'Script', what: 'a script' },
} as const;

export interface AdditionLoad {
  /** What is wrong with it once the page has heard of its end; undefined when it was answered with 2xx and is what it should be. `ran`: the page's word. */
  problem(ran: boolean): ApiError | undefined;
}

/** Watches from now on for the request to `url`, which the page makes next; the Network domain is on. */
export function watchAddition(
  { session, denials }: Pick<Page, 'session' | 'denials'>,
  field: keyof typeof KINDS,
  url: string,
): AdditionLoad {
  const { type: wanted, what } = KINDS[field];
  const [asked] = url.split('#');
  const statuses = new Map<string, number>();
  const load = { requestId: '', url: asked!, contentType: '', failure: '' };

  session.on('Network.requestWillBeSent', ({ requestId, frameId, type, request, redirectResponse }) => {
    const isNext = redirectResponse !== undefined && requestId === load.requestId;
    if (!isNext && (type !== wanted || frameId !== session.frameId || request.url !== asked)) return;
    Object.assign(load, { requestId, url: request.url, contentType: '', failure: '' });
    statuses.delete(requestId);
  });
  // The only word of the status of an answer that Chrome then keeps from the page.
  session.on('Network.responseReceivedExtraInfo', ({ requestId, statusCode }) => statuses.set(requestId, statusCode));
  session.on('Network.responseReceived', ({ requestId, response }) => {
    statuses.set(requestId, response.status);
    if (requestId !== load.requestId) return;
    const named = Object.entries(response.headers).find(([name]) => name.toLowerCase() === 'content-type')?.[1];
    load.contentType = named === undefined ? '' : response.mimeType;
  });
  session.on('Network.loadingFailed', ({ requestId, errorText, blockedReason }) => {
    if (requestId === load.requestId)
      load.failure = blockedReason === 'mixed-content' ? 'the page is https, and loads nothing over http' : inPlainWords(errorText);
  });

  return {
    problem: ran => {
      const { host } = new URL(load.url);
      const failed = `\`${field}\` could not be loaded from ${host}`;
      const denied = denials.of(load.url);
      if (!ran && (denied === 'address' || denied === 'port')) return notPublic(field);
      if (!ran && (denied === 'name' || denied === 'unresolved'))
        return renderFailed('page_unreachable', `${failed}: its host name does not resolve.`);
      if (!ran && denied) return renderFailed('output_limit', `${failed}: the page used more of the network than one render may.`);
      const status = statuses.get(load.requestId);
      if (status !== undefined && (status < 200 || status > 299)) return renderFailed('page_status', `${failed}: it answered ${status}.`);
      const isOther = field === 'css' && load.contentType !== '' && load.contentType !== 'text/css';
      if (isOther) return renderFailed('page_status', `${failed}: it answered with ${load.contentType}, which is not ${what}.`);
      if (ran) return undefined;
      if (status !== undefined) return renderFailed('page_status', `${failed}: what it answered with is not ${what}.`);
      return renderFailed('page_unreachable', `${failed}: ${load.failure || 'it did not answer'}.`);
    },
  };
}
