// The load of a stylesheet or script that the caller added: its status, its redirects, why it
// failed. Owns the errors that name `css` and `javascript`.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Protocol } from 'devtools-protocol';
import {
  type ApiError,
  type RenderFailedReason,
  renderFailed,
} from '../../common/contract/errors.ts';
import { notPublic } from '../../common/contract/page-url.ts';
import { isUnreachable, type NoConnection, netErrorMessage, UNREACHABLE } from './main-document.ts';
import type { Page } from './page.ts';

const KINDS = {
  css: { type: 'Stylesheet', what: 'a stylesheet' },
  javascript: { type: 'Script', what: 'a script' },
} as const;

/**
 * Chrome withholds responses of other sites that are not a stylesheet or script, for example an
 * HTML error page.
 */
const WITHHELD = 'net::ERR_BLOCKED_BY_ORB';
/** How long to wait for a pending status, also on a stalled machine. */
const STATUS_MS = 5_000;

const PLAIN_FAILURES: Record<string, string> = {
  '': 'the server did not respond',
  'mixed-content': 'a page on https cannot load it over http',
};

/**
 * Watches for the next request of the page to `url`. The Network domain must be enabled.
 */
export class AdditionLoad {
  readonly #page: Pick<Page, 'session' | 'blockedRequests'>;
  readonly #field: keyof typeof KINDS;
  readonly #asked: string;
  readonly #statuses = new Map<string, number>();
  #onStatus = () => {};
  #requestId = '';
  #url: string;
  #contentType = '';
  /** Chrome's name of the error, or why it blocked the request; empty while there is none. */
  #failure = '';

  constructor(
    page: Pick<Page, 'session' | 'blockedRequests'>,
    field: keyof typeof KINDS,
    url: string,
  ) {
    this.#page = page;
    this.#field = field;
    this.#asked = url.split('#')[0]!;
    this.#url = this.#asked;
    const { session } = page;
    session.on('Network.requestWillBeSent', event => this.#onRequest(event));
    // The only event with the status of a withheld response. It may arrive before the event of the
    // request, or after the one of its end.
    session.on('Network.responseReceivedExtraInfo', ({ requestId, statusCode }) => {
      this.#statuses.set(requestId, statusCode);
      this.#onStatus();
    });
    session.on('Network.responseReceived', event => this.#onResponse(event));
    session.on('Network.loadingFailed', ({ requestId, errorText, blockedReason }) => {
      if (requestId === this.#requestId)
        this.#failure = blockedReason === 'mixed-content' ? blockedReason : errorText;
    });
  }

  /**
   * The error of the load after it has ended, or undefined when the response was 2xx and of the
   * right type. `ran`: whether the page's element fired `load`.
   */
  async problem(ran: boolean): Promise<ApiError | undefined> {
    const blocked = ran ? undefined : this.#page.blockedRequests.of(this.#url);
    if (blocked) return this.#blockedProblem(blocked);
    const { what } = KINDS[this.#field];
    const withheld = this.#failure === WITHHELD;
    const status = withheld ? await this.#withheldStatus() : this.#statuses.get(this.#requestId);
    if (status !== undefined && (status < 200 || status > 299))
      return this.#failed('page_status', `the server returned ${status}`);
    const isOther =
      this.#field === 'css' && this.#contentType !== '' && this.#contentType !== 'text/css';
    if (isOther)
      return this.#failed('page_status', `the response is ${this.#contentType}, not ${what}`);
    // A stylesheet with a failing `@import` reports an error too, but applies.
    const applies = this.#field === 'css' && status !== undefined && this.#failure === '';
    if (ran || applies) return undefined;
    const notTaken =
      withheld ||
      (status !== undefined && (this.#failure === '' || this.#failure === 'net::ERR_ABORTED'));
    return notTaken
      ? this.#failed('page_status', `the response is not ${what}`)
      : this.#failed(
          'page_unreachable',
          PLAIN_FAILURES[this.#failure] ?? netErrorMessage(this.#failure),
        );
  }

  #blockedProblem(blocked: NoConnection): ApiError {
    if (blocked === 'address' || blocked === 'port') return notPublic(this.#field);
    if (blocked === 'name' || blocked === 'unresolved')
      return this.#failed('page_unreachable', 'its host name does not resolve');
    if (isUnreachable(blocked)) return this.#failed('page_unreachable', UNREACHABLE[blocked]);
    return this.#failed('output_limit', 'the page exceeded the network limits of a render');
  }

  #failed(reason: RenderFailedReason, why: string): ApiError {
    const { host } = new URL(this.#url);
    return renderFailed(reason, `\`${this.#field}\` could not be loaded from ${host}: ${why}.`);
  }

  #onRequest({
    requestId,
    frameId,
    type,
    request,
    redirectResponse,
  }: Protocol.Network.RequestWillBeSentEvent): void {
    const isNext = redirectResponse !== undefined && requestId === this.#requestId;
    const isFirst =
      type === KINDS[this.#field].type &&
      frameId === this.#page.session.frameId &&
      request.url === this.#asked;
    if (!isNext && !isFirst) return;
    this.#requestId = requestId;
    this.#url = request.url;
    this.#contentType = '';
    this.#failure = '';
    // Not the status of the response itself, which may have arrived before this event.
    if (this.#statuses.get(requestId) === redirectResponse?.status)
      this.#statuses.delete(requestId);
  }

  #onResponse({ requestId, response }: Protocol.Network.ResponseReceivedEvent): void {
    this.#statuses.set(requestId, response.status);
    if (requestId !== this.#requestId) return;
    const named = Object.entries(response.headers).find(
      ([name]) => name.toLowerCase() === 'content-type',
    )?.[1];
    this.#contentType = named === undefined ? '' : response.mimeType;
  }

  /** Chrome has received the response, so the event with its status will arrive. */
  async #withheldStatus(): Promise<number | undefined> {
    const over = new AbortController();
    const received = new Promise<void>(resolve => {
      this.#onStatus = () => this.#statuses.has(this.#requestId) && resolve();
      this.#onStatus();
    });
    await Promise.race([
      received,
      sleep(STATUS_MS, undefined, { signal: over.signal }).catch(() => {}),
    ]);
    over.abort();
    return this.#statuses.get(this.#requestId);
  }
}
