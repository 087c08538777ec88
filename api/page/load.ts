// Opens the document: writes `html` into the blank page with its opaque origin, or navigates to
// `url`. Ends at the load event.
import type { Protocol } from 'devtools-protocol';
import { invalid } from '../../common/contract/errors.ts';
import { STILL } from '../../common/protocol.ts';
import { CommandFailed, type Session } from '../workers/session.ts';
import { intercept } from './interception.ts';
import type { Page } from './page.ts';
import {
  type CookieSetting,
  intercepts,
  printArea,
  type RenderSettings,
  setsPolicyAside,
  watchesNetwork,
} from './render-settings.ts';
import { onceInOwnWorld } from './waits.ts';

/**
 * Pure. A host-only cookie is set by URL, one for subdomains by domain. A document from `html`
 * belongs to no site, so all its requests are cross-site and send only `SameSite=None` cookies,
 * which must be secure: that is the default there.
 */
export function chromeCookie(
  { domain, sameSite, secure, ...rest }: CookieSetting,
  kind: RenderSettings['source']['kind'],
): Protocol.Network.SetCookieRequest {
  const foreign = kind === 'html' && sameSite === undefined;
  const isSecure = secure || foreign;
  const where = domain.startsWith('.')
    ? { domain }
    : { url: `${isSecure ? 'https' : 'http'}://${domain}/` };
  const site = foreign ? 'None' : sameSite;
  return { ...rest, ...where, secure: isSecure, ...(site && { sameSite: site }) };
}

/**
 * Resolves when all cookies are set. Throws validation_error for the first one that Chrome rejects.
 */
export async function setCookies(
  session: Session,
  { cookies, source }: RenderSettings,
): Promise<void> {
  const set = async (cookie: CookieSetting) => {
    try {
      return (await session.command('Network.setCookie', chromeCookie(cookie, source.kind)))
        .success;
    } catch (error) {
      if (error instanceof CommandFailed) return false;
      throw error;
    }
  };
  const taken = await Promise.all(cookies.map(set));
  const rejected = taken.indexOf(false);
  if (rejected === -1) return;
  throw invalid(
    `\`cookies.${rejected}\` was rejected by the browser. Check its \`domain\`, \`path\` and \`value\`, and its length (at most 4096 bytes).`,
  );
}

/**
 * The largest HTML in one command. Its JSON blocks the event loop for about 2 ms; 10 MB would block
 * it for more than 70 ms.
 */
export const WHOLE_CHARS = 256 * 1024;
/**
 * A gateway accepts no other command over 1 MiB, and JSON takes up to six bytes per character.
 */
export const PIECE_CHARS = 128 * 1024;

const ADD_PIECE = 'piece => void (globalThis.html ??= []).push(piece)';
/** Does what `Page.setDocumentContent` does. */
const WRITE = `() => {
  const text = globalThis.html.join('');
  delete globalThis.html;
  document.open();
  document.write(text);
  document.close();
}`;

const isFirstHalf = (unit: number) => (unit & 0xfc00) === 0xd800;

/** Pure. Never splits a surrogate pair, since half of one is lost in transfer. */
export function* inPieces(html: string): Generator<string> {
  for (let at = 0, end = 0; at < html.length; at = end) {
    end = at + PIECE_CHARS;
    if (isFirstHalf(html.charCodeAt(end - 1))) end -= 1;
    yield html.slice(at, end);
  }
}

/** Resolves when the HTML is written; its resources may still be loading. */
export async function openHtml(session: Session, html: string): Promise<void> {
  if (html.length <= WHOLE_CHARS) {
    await session.command('Page.setDocumentContent', { frameId: session.frameId, html });
    return;
  }
  for (const piece of inPieces(html)) await onceInOwnWorld<void>(session, ADD_PIECE, piece);
  await onceInOwnWorld<void>(session, WRITE);
}

export const deviceMetrics = (width: number, height: number) => ({
  width,
  height,
  deviceScaleFactor: 1,
  mobile: false,
});

/**
 * Media from the first moment, so that what only print styles use is loaded too; for a single page
 * also the paper's width.
 */
async function setViewport(session: Session, settings: RenderSettings): Promise<void> {
  const { widthPx, heightPx } = printArea(settings);
  const metrics = deviceMetrics(widthPx, heightPx);
  await Promise.all([
    session.command('Emulation.setEmulatedMedia', { media: settings.media }),
    settings.singlePage && session.command('Emulation.setDeviceMetricsOverride', metrics),
  ]);
}

const STEP_IN_HISTORY = "history.pushState(null, '')";

/** Chrome neither keeps the bodies of responses nor sends those of requests, which are not used. */
const NO_BODIES = { maxPostDataSize: 1, maxTotalBufferSize: 1, maxResourceBufferSize: 1 };

/**
 * Resolves at the load event of the current document. Rejects with the error of the main document.
 */
export async function load({ session, settings, document, navigation, fail }: Page): Promise<void> {
  const prepared = Promise.all([
    settings.isStatic
      ? session.command(STILL)
      : // Without a second history entry a script could close the page, for example after print().
        settings.source.kind === 'html' &&
        settings.isolation === 'fresh' &&
        session.command('Runtime.evaluate', { expression: STEP_IN_HISTORY }),
    setViewport(session, settings),
    watchesNetwork(settings) && session.command('Network.enable', NO_BODIES),
    setsPolicyAside(settings) && session.command('Page.setBypassCSP', { enabled: true }),
    setCookies(session, settings),
    intercepts(settings) && intercept(session, settings, fail),
  ]);
  prepared.catch(() => {}); // awaited below, unless opening the page fails first
  if (settings.source.kind === 'html') {
    // Chrome runs a session's commands in order, so only those that other processes run are
    // awaited.
    if (settings.cookies.length > 0 || intercepts(settings)) await prepared;
    await openHtml(session, settings.source.html);
  } else {
    // A navigation changes the process. Commands that are pending by then take effect there too
    // late and events of the document are lost (Chromium 156, a third of the pages on a busy
    // machine).
    await prepared;
    const { errorText } = await session.command('Page.navigate', { url: settings.source.url });
    if (errorText) throw document.navigationError(settings.source.url, errorText);
  }
  await Promise.all([prepared, navigation.loaded()]);
}
