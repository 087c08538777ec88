// Adds headers to the requests of a page: extra headers, `Authorization` and HTTP Basic. Chrome
// pauses requests for it, so only renders with one of these pay for it. Paused requests have passed
// Chrome's CORS checks, so extra headers cause no preflight.
import type { Protocol } from 'devtools-protocol';
import { invalid } from '../../common/contract/errors.ts';
import { CommandFailed, type Session } from '../workers/session.ts';
import type { RenderSettings } from './render-settings.ts';

/**
 * A worker accepts 1 MiB per command. A larger request continues unchanged: no server accepts
 * headers of that size.
 */
const MAX_HEADERS_BYTES = 900_000;

type Headers = Protocol.Fetch.HeaderEntry[];

const without = (headers: Headers, name: string): Headers =>
  headers.filter(other => other.name.toLowerCase() !== name.toLowerCase());

const originOf = (url: string) => URL.parse(url)?.origin;

/**
 * The origin that `Authorization` and `auth` are for; undefined for `html`, whose origin is opaque.
 */
const ownOrigin = ({ source }: RenderSettings) =>
  source.kind === 'url' ? new URL(source.url).origin : undefined;

/**
 * Pure. The headers of a request plus those of the settings, or undefined when nothing changes. An
 * `Authorization` that the page's script set stays.
 */
export function headersFor(
  settings: RenderSettings,
  { url, headers }: Pick<Protocol.Network.Request, 'url' | 'headers'>,
): Headers | undefined {
  const own = Object.entries(headers).map(([name, value]) => ({ name, value }));
  let all = own;
  for (const [name, value] of Object.entries(settings.headers))
    all = [...without(all, name), { name, value }];
  const isOwn = settings.authorization !== undefined && originOf(url) === ownOrigin(settings);
  if (isOwn && without(all, 'authorization').length === all.length)
    all = [...all, { name: 'Authorization', value: settings.authorization! }];
  return all === own || Buffer.byteLength(JSON.stringify(all)) > MAX_HEADERS_BYTES
    ? undefined
    : all;
}

/**
 * Does nothing when the request no longer exists. Throws validation_error for the first header that
 * Chrome rejects.
 */
async function continueRequest(
  session: Session,
  settings: RenderSettings,
  requestId: string,
  headers: Headers | undefined,
): Promise<void> {
  try {
    await session.command('Fetch.continueRequest', { requestId, ...(headers && { headers }) });
  } catch (error) {
    if (!(error instanceof CommandFailed) || /InterceptionId|Invalid state/i.test(error.message))
      return;
    const rejected = /(?:Unsafe|Invalid) header: (.+)$/.exec(error.message)?.[1]?.toLowerCase();
    const header = Object.keys(settings.headers).find(name => name.toLowerCase() === rejected);
    if (header === undefined) throw error;
    throw invalid(
      `\`extra_http_headers.${header}\` is not supported: the browser does not send this header, or not with this value.`,
      error,
    );
  }
}

/**
 * Resolves when requests are paused as the settings need it. `fail` is called with the error of a
 * request that cannot continue. Challenges of proxies, of other origins and repeated ones are
 * canceled, so that the 401 itself is the response.
 */
export async function intercept(
  session: Session,
  settings: RenderSettings,
  fail: (error: unknown) => void,
): Promise<void> {
  const origin = ownOrigin(settings);
  const { basicAuth } = settings;
  const answered = new Set<string>();

  session.on('Fetch.requestPaused', ({ requestId, request }) => {
    continueRequest(session, settings, requestId, headersFor(settings, request)).catch(fail);
  });
  session.on('Fetch.authRequired', ({ requestId, request, authChallenge }) => {
    const { source, origin: asking, scheme } = authChallenge;
    const attempt = `${requestId} ${request.url}`;
    const isFor =
      source === 'Server' &&
      originOf(asking) === origin &&
      originOf(request.url) === origin &&
      /^basic$/i.test(scheme);
    const authChallengeResponse: Protocol.Fetch.AuthChallengeResponse =
      basicAuth && isFor && !answered.has(attempt)
        ? { response: 'ProvideCredentials', ...basicAuth }
        : { response: 'CancelAuth' };
    answered.add(attempt);
    // The request may no longer exist.
    session.command('Fetch.continueWithAuth', { requestId, authChallengeResponse }).catch(() => {});
  });
  await session.command('Fetch.enable', {
    patterns: [{ urlPattern: Object.keys(settings.headers).length > 0 ? 'http*' : `${origin}/*` }],
    handleAuthRequests: basicAuth !== undefined,
  });
}
