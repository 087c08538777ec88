// The requests of a page that failed, for the render log, the response and
// `fail_on_resource_error`. The main document only when it did not arrive: its status has errors of
// its own.
import type { Protocol } from 'devtools-protocol';
import { type ApiError, renderFailed } from '../../common/contract/errors.ts';
import {
  FAILING_TYPES,
  type ResourceError,
  type ResourceReason,
} from '../../common/contract/resource-errors.ts';
import { roundedMs } from '../../common/units.ts';
import type { Session } from '../workers/session.ts';
import type { BlockedRequests, NoConnection } from './main-document.ts';

export interface ResourceErrors {
  count: number;
  /** The first MAX_LISTED of them. */
  listed: ResourceError[];
}

export const MAX_LISTED = 100;
const MAX_URL_LENGTH = 512;
/** In the message of `fail_on_resource_error`. */
const MAX_NAMED = 3;
const MAX_NAMED_LENGTH = 120;
/** Pending requests and statuses that are remembered. The guard allows 50 connections at a time. */
const MAX_PENDING = 1_000;
/** These stay open as long as the page, so that they are not missing anything. */
const ENDLESS: ReadonlySet<string> = new Set(['eventsource', 'media', 'ping']);

/** A copy, since a part of a text keeps all of it in memory. A URL may have megabytes. */
const cut = (text: string, max: number) =>
  Buffer.from(text.length > max ? `${text.slice(0, max - 1)}…` : text).toString();

/**
 * Pure. The page controls the URL. Not parsed: Chrome accepts some URLs that Node does not, such as
 * `http://a%20b/`.
 */
export function shownUrl(url: string): string {
  const scheme = /^(?:data|blob):/i.exec(url)?.[0].toLowerCase();
  if (scheme) return `${scheme} (${url.length.toLocaleString('en')} characters)`;
  const plain = url
    .replace(/[?#].*/s, '')
    .replace(/^([^/\\]*[/\\]{2})[^/\\]*@/, '$1')
    .slice(0, MAX_URL_LENGTH + 1);
  return cut(plain.replace(/[\p{C}"`]/gu, ' '), MAX_URL_LENGTH);
}

const BY_GUARD: Record<NoConnection, ResourceReason> = {
  address: 'blocked',
  port: 'blocked',
  closed: 'blocked',
  name: 'unresolved',
  unresolved: 'unresolved',
  refused: 'refused',
  timeout: 'timeout',
  requests: 'too_large',
  connections: 'too_large',
  bytes: 'too_large',
};

const BY_BROWSER =
  /^net::ERR_(?:BLOCKED_BY|UNSAFE_PORT|DISALLOWED_URL_SCHEME|UNKNOWN_URL_SCHEME|ACCESS_DENIED)/;

/** Undefined for a request that was canceled, for example because its element was removed. */
function reasonOf(
  origin: string,
  event: Protocol.Network.LoadingFailedEvent,
  blocked: BlockedRequests,
): ResourceReason | undefined {
  const { errorText, blockedReason, corsErrorStatus, canceled } = event;
  if (blockedReason || corsErrorStatus || BY_BROWSER.test(errorText)) return 'blocked';
  if (canceled || errorText === 'net::ERR_ABORTED') return undefined;
  const byGuard = blocked.of(origin);
  if (byGuard) return BY_GUARD[byGuard];
  if (errorText.includes('TIMED_OUT')) return 'timeout';
  return blocked.isOverLimit() ? 'too_large' : 'failed';
}

interface Pending {
  isMain: boolean;
  method: string;
  type: string;
  /** As shown. For a main document that was redirected, only the origin of the last redirect. */
  url: string;
  /** Of the last redirect; empty for `data:` and others without a server. */
  origin: string;
  /** Of Chrome's clock in seconds, and of ours in milliseconds. */
  startS: number;
  startMs: number;
}

const listed = (names: string[], count: number) =>
  names.join(', ') + (count > names.length ? ` and ${count - names.length} more` : '');

const isError = (status: number | undefined) => status !== undefined && status >= 400;
const resultOf = ({ status, reason }: ResourceError) => status ?? reason;

/** The Network domain must be enabled before the page is opened. */
export class Resources {
  readonly #errors: ResourceErrors;
  readonly #blocked: BlockedRequests;
  readonly #pending = new Map<string, Pending>();
  /** Chrome may report the status before the request, or after its end. */
  readonly #statuses = new Map<string, number>();
  readonly #blockedByBrowser = new Map<string, ResourceError>();
  /** The first errors of FAILING_TYPES, and the number of all of them. */
  readonly #failing: { named: ResourceError[]; count: number } = { named: [], count: 0 };

  /** Clears `errors`, since a retried render has another page, and fills it. */
  constructor(session: Session, blocked: BlockedRequests, errors: ResourceErrors) {
    this.#errors = errors;
    this.#blocked = blocked;
    errors.count = 0;
    errors.listed.length = 0;
    session.on('Network.requestWillBeSent', event => {
      const isMain = event.type === 'Document' && event.frameId === session.frameId;
      // A preflight, or the script of a worker, whose end is reported only to the worker.
      const isUnended = event.loaderId === '';
      if (!isUnended) this.#onRequest(event, isMain);
    });
    session.on('Network.responseReceivedExtraInfo', ({ requestId, statusCode }) =>
      this.#onStatus(requestId, statusCode),
    );
    session.on('Network.responseReceived', ({ requestId, response }) =>
      this.#onStatus(requestId, response.status),
    );
    session.on('Network.loadingFinished', ({ requestId, timestamp }) =>
      this.#onEnd(requestId, timestamp),
    );
    session.on('Network.loadingFailed', event =>
      this.#onEnd(event.requestId, event.timestamp, event),
    );
  }

  /** The error for `fail_on_resource_error`; undefined when nothing that it covers has failed. */
  failure(): ApiError | undefined {
    const { named, count } = this.#failing;
    if (count === 0) return undefined;
    const names = named.map(each => `${cut(each.url, MAX_NAMED_LENGTH)} (${resultOf(each)})`);
    return renderFailed(
      'page_status',
      `The page could not load ${count} resource${count === 1 ? '' : 's'}: ${listed(names, count)}. Fix the URLs, or set \`fail_on_resource_error\` to false.`,
    );
  }

  /** A sentence about what is still pending; empty when nothing is. */
  stillLoading(): string {
    const urls = [...this.#pending.values()].filter(each => !ENDLESS.has(each.type));
    if (urls.length === 0) return '';
    const names = urls.slice(0, MAX_NAMED).map(each => cut(each.url, MAX_NAMED_LENGTH));
    return `Still loading: ${listed(names, urls.length)}.`;
  }

  /** Records what is still pending, at the time limit of the render. */
  timedOut(): void {
    for (const pending of this.#pending.values()) {
      const ms = performance.now() - pending.startMs;
      if (!ENDLESS.has(pending.type)) this.#add(pending, { reason: 'timeout' }, ms);
    }
    this.#pending.clear();
  }

  #onRequest(event: Protocol.Network.RequestWillBeSentEvent, isMain: boolean): void {
    const { requestId, request, type = 'Other', redirectResponse, timestamp } = event;
    const before = redirectResponse && this.#pending.get(requestId);
    const { origin = '' } = URL.parse(request.url) ?? {};
    if (before) {
      before.origin = origin;
      // The host that was blocked; a path there may be secret.
      if (isMain) before.url = shownUrl(origin);
    } else if (this.#pending.size < MAX_PENDING)
      this.#pending.set(requestId, {
        isMain,
        method: request.method.slice(0, 20),
        type: type.toLowerCase(),
        url: shownUrl(request.url),
        origin,
        startS: timestamp,
        startMs: performance.now(),
      });
  }

  #onStatus(requestId: string, status: number): void {
    const entry = this.#blockedByBrowser.get(requestId);
    if (entry && isError(status)) {
      delete entry.reason;
      entry.status = status;
    } else if (this.#statuses.size < MAX_PENDING) this.#statuses.set(requestId, status);
  }

  #onEnd(requestId: string, endS: number, failed?: Protocol.Network.LoadingFailedEvent): void {
    const pending = this.#pending.get(requestId);
    const status = this.#statuses.get(requestId);
    this.#pending.delete(requestId);
    this.#statuses.delete(requestId);
    if (!pending) return;
    const ms = (endS - pending.startS) * 1_000;
    if (isError(status)) {
      if (!pending.isMain) this.#add(pending, { status: status! }, ms);
      return;
    }
    const reason = failed && reasonOf(pending.origin, failed, this.#blocked);
    if (!reason) return;
    const entry = this.#add(pending, { reason }, ms);
    // The status of a response that Chrome withheld may still arrive.
    if (entry && reason === 'blocked') this.#blockedByBrowser.set(requestId, entry);
  }

  #add(
    { method, url, type }: Pending,
    result: Pick<ResourceError, 'status' | 'reason'>,
    ms: number,
  ): ResourceError | undefined {
    const entry: ResourceError = { method, url, type, ...result, ms: roundedMs(ms) };
    this.#errors.count++;
    if (FAILING_TYPES.has(type)) {
      this.#failing.count++;
      if (this.#failing.named.length < MAX_NAMED) this.#failing.named.push(entry);
    }
    if (this.#errors.listed.length >= MAX_LISTED) return undefined;
    this.#errors.listed.push(entry);
    return entry;
  }
}
