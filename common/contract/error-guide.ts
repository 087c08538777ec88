// What to do about each error: the texts of the guide on errors. answers.ts describes when the errors
// of a render occur.
import type { ErrorCode, RenderFailedReason } from './errors.ts';

export interface ErrorAdvice {
  /** When it occurs, where answers.ts does not say so. */
  when?: string;
  fix: string;
  /** `after`: the response has `Retry-After`. `soon`: it has none. */
  retry: 'no' | 'soon' | 'after';
}

export const CODE_ADVICE: Record<ErrorCode, ErrorAdvice> = {
  validation_error: {
    fix: 'Read the message: it names each field, what is wrong with it and what the field accepts. Correct the request and send it again. If the message quotes an exception, the script in `javascript` threw it. For field names of other products, such as `displayHeaderFooter`, the message names the equivalent field.',
    retry: 'no',
  },
  payload_too_large: {
    fix: 'Load images, fonts and stylesheets by URL instead of embedding them as `data:` URLs, or split the document. The administrator sets the limit with `PRESSROOM_BODY_MAX`.',
    retry: 'no',
  },
  unauthorized: {
    fix: 'Send `Authorization: Bearer <API key>` with a key from the dashboard. If the message names a scope, use a key that has it. Otherwise, check in the dashboard that the key has not expired and that it may be used from your IP address. For security, the message does not say which of these applies.',
    retry: 'no',
  },
  subscription_inactive: {
    fix: 'Open the billing page of the dashboard and update the payment method, or contact the administrator of your installation. Renders work again as soon as the account is active.',
    retry: 'no',
  },
  ssrf_blocked: {
    fix: 'Renders load public addresses only. Use a public URL, or render the page yourself and send the result as `html`. To render pages of your internal network, the administrator adds their addresses to `PRESSROOM_EGRESS_ALLOW` and marks the account as `intranet`.',
    retry: 'no',
  },
  concurrency_limit: {
    fix: 'Wait for the number of seconds in `Retry-After`, then send the request again. To avoid the error, send at most as many concurrent requests as the header `X-Concurrency-Limit` allows, or choose a larger plan.',
    retry: 'after',
  },
  rate_limited: {
    fix: 'Wait for the number of seconds in `Retry-After`. Trial renders are for a first test: use an API key for more.',
    retry: 'after',
  },
  render_failed: {
    fix: '`reason` has the cause. Each reason has a section below.',
    retry: 'no',
  },
  forbidden: {
    when: 'Only in the dashboard and its API: your role in the account does not allow this action.',
    fix: 'Ask an owner of the account to change your role or to do it for you.',
    retry: 'no',
  },
  not_found: {
    when: 'The path of the request, or the object that it names, does not exist.',
    fix: 'Check the path. Renders are created by `POST /v1/render`; a `GET` in the browser does not work.',
    retry: 'no',
  },
  method_not_allowed: {
    when: 'The path exists, but not with this HTTP method.',
    fix: 'Use a method from the header `Allow` of the response. `/v1/render` accepts `POST` only.',
    retry: 'no',
  },
  conflict: {
    when: 'The status of an asynchronous render does not allow the action. In the dashboard and its API also: the object was changed meanwhile.',
    fix: 'Read the message, load the object again, and repeat the action if it still applies.',
    retry: 'no',
  },
  gone: {
    when: 'The link to a PDF, or an asynchronous render, has expired.',
    fix: 'Render the document again. Links expire after 30 minutes by default, asynchronous renders after their `ttl`.',
    retry: 'no',
  },
  internal: {
    when: 'An unexpected error outside a render.',
    fix: 'Try again. If it happens again, send the request ID to your administrator. The cause is in the log of the service.',
    retry: 'soon',
  },
  unavailable: {
    when: 'Outside a render: the database does not respond, or too many requests of this kind are in progress.',
    fix: 'Wait for the number of seconds in `Retry-After`, then try again.',
    retry: 'after',
  },
};

export const REASON_ADVICE: Record<RenderFailedReason, ErrorAdvice & { when: string }> = {
  page_status: {
    when: 'The server of the page answered `url` with an error status (4xx or 5xx), or with a redirect while `raise_for_status` is true. With `fail_on_resource_error`, also: a stylesheet, image, font or script did not load.',
    fix: 'Open the URL in a private browser window: Pressroom does not use your login. If the page needs a login, send `cookies`, `auth` or `extra_http_headers`. To print the error page itself, set `raise_for_status` to false. If the message names resources, correct their URLs.',
    retry: 'no',
  },
  page_unreachable: {
    when: 'The page, `css` or `javascript` could not be loaded: the host name does not resolve, the server refused or cut off the connection, its certificate is invalid, or there were more than 10 redirects.',
    fix: 'Check the host name, the port and the certificate from a machine outside your network. The message says which step failed.',
    retry: 'no',
  },
  page_timeout: {
    when: 'The render took longer than its time limit: `timeout`, or the limit of the installation (60 s by default). The message names the step that did not finish, for example a `wait_*` condition, and its last state.',
    fix: 'Check that the condition becomes true on this page and that the page loads fast enough in a browser, or set a longer `timeout`. A page with open connections, such as a chat or a video, never reaches `wait_for_network_idle`: wait for a selector or an expression instead.',
    retry: 'no',
  },
  page_crash: {
    when: 'The page used more memory than a render may have (1 GiB by default), or crashed its browser process.',
    fix: 'Use fewer or smaller images, or split the document into several renders.',
    retry: 'no',
  },
  output_limit: {
    when: 'The render exceeded a limit: the size of the PDF, the bytes or requests that a page may load, or the 200 inches of a single page.',
    fix: 'Use fewer or smaller images, split the document, or print on several pages.',
    retry: 'no',
  },
  no_worker: {
    when: 'No worker had a free slot within the queue time (30 s by default).',
    fix: 'Try again after the number of seconds in `Retry-After`. If it happens often, send fewer renders at once or ask your administrator to add workers.',
    retry: 'after',
  },
  queue_full: {
    when: 'The queue of the service is full.',
    fix: 'Try again after the number of seconds in `Retry-After`.',
    retry: 'after',
  },
  overloaded: {
    when: 'The service is at its memory limit for requests and PDFs.',
    fix: 'Try again after the number of seconds in `Retry-After`.',
    retry: 'after',
  },
  database: {
    when: 'The service cannot reach its database.',
    fix: 'Try again after a few seconds. If it happens again, contact your administrator.',
    retry: 'after',
  },
  worker_lost: {
    when: 'The browser or its worker exited during the render, and again during the automatic retry.',
    fix: 'Try again. If only one document fails like this, contact your administrator with the request ID.',
    retry: 'soon',
  },
  internal: {
    when: 'An unexpected error of the service.',
    fix: 'Try again. If it happens again, send the request ID to your administrator. The cause is in the log of the service.',
    retry: 'soon',
  },
};

/** The anchor in the guide on errors. `internal` is a code and a reason. */
export const errorAnchor = (code: ErrorCode, reason?: RenderFailedReason): string =>
  reason === undefined ? code : `${code}-${reason}`;

/** The path of the guide on errors in the docs of an installation. */
export const ERRORS_GUIDE = '/docs/guides/errors';
