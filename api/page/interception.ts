// What goes along with the requests of a page: extra headers, `Authorization` and the answers to
// HTTP Basic. Chrome holds requests back for it, which only renders with one of these pay for. What
// is held back is already behind Chrome's own CORS checks, so that extra headers cause no preflight
// that would cost a page its fonts.
import type { Protocol } from 'devtools-protocol';
import { invalid } from '../../common/contract/errors.ts';
import { CommandFailed, type Session } from '../workers/session.ts';
import type { RenderSettings } from './render-settings.ts';

/**
 * A worker takes a mebibyte in one command. A request that leaves no room for our headers in it
 * goes on as it is: no server takes a head of that size.
 */
const MAX_HEADERS_BYTES = 900_000;

type Headers = Protocol.Fetch.HeaderEntry[];

const without = (headers: Headers, name: string): Headers =>
  headers.filter(other => other.name.toLowerCase() !== name.toLowerCase());

const originOf = (url: string) => URL.parse(url)?.origin;

/**
 * The origin that `Authorization` and `auth` are for; the origin of a document of ours is nobody's.
 */
const ownOrigin = ({ source }: RenderSettings) =>
  source.kind === 'url' ? new URL(source.url).origin : undefined;

/**
 * Pure. The headers of a request with those of the settings, or undefined when it goes on as it is.
 * An `Authorization` of the page's own script stays.
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
 * Nothing comes of it when the request is gone meanwhile. Some headers, and some only with certain
 * values, Chrome does not take, and names the first of them.
 */
async function goOn(
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
    const refused = /(?:Unsafe|Invalid) header: (.+)$/.exec(error.message)?.[1]?.toLowerCase();
    const ours = Object.keys(settings.headers).find(name => name.toLowerCase() === refused);
    if (ours === undefined) throw error;
    throw invalid(
      `\`extra_http_headers.${ours}\` is not supported: the browser does not send this header, or not with this value.`,
      error,
    );
  }
}

/**
 * Resolves when every request from then on is held back as the settings need it. `fail` hears of a
 * request that cannot go on as asked for. A proxy's challenges and those of other origins are
 * cancelled, so that the 401 itself is the answer; so is one that comes again after it was
 * answered.
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
    goOn(session, settings, requestId, headersFor(settings, request)).catch(fail);
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
    // the request is gone
    session.command('Fetch.continueWithAuth', { requestId, authChallengeResponse }).catch(() => {});
  });
  await session.command('Fetch.enable', {
    patterns: [{ urlPattern: Object.keys(settings.headers).length > 0 ? 'http*' : `${origin}/*` }],
    handleAuthRequests: basicAuth !== undefined,
  });
}
