// Opens the document: html is written into the blank page's own opaque origin, a url is navigated
// to. Done at the load event.
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
} from './render-settings.ts';
import { onceInOwnWorld } from './waits.ts';

/**
 * Pure. A cookie of one host is named by an address there, one for subdomains too by its domain. A
 * document given as html belongs to no site, so everything that it loads is of another site and
 * gets cookies with `SameSite=None` alone, which must be secure: there that is what a cookie
 * without `same_site` is taken for.
 */
export function asChromeTakes(
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
 * Resolves when all are set. Throws validation_error that names the first one that Chrome does not
 * take.
 */
export async function setCookies(
  session: Session,
  { cookies, source }: RenderSettings,
): Promise<void> {
  const set = async (cookie: CookieSetting) => {
    try {
      return (await session.command('Network.setCookie', asChromeTakes(cookie, source.kind)))
        .success;
    } catch (error) {
      if (error instanceof CommandFailed) return false;
      throw error;
    }
  };
  const taken = await Promise.all(cookies.map(set));
  const refused = taken.indexOf(false);
  if (refused === -1) return;
  throw invalid(
    `\`cookies.${refused}\` was rejected by the browser. Check its \`domain\`, \`path\` and \`value\`, and its length (at most 4096 bytes).`,
  );
}

/**
 * The largest html that is sent in one command. Making its JSON blocks the event loop, and so every
 * other render of the process, for about 2 ms; 10 MB block it for 70 ms and more.
 */
export const WHOLE_CHARS = 256 * 1024;
/**
 * A gateway accepts no other command over 1 MiB, and JSON writes a character in up to six bytes.
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

/** Resolves when all of it is written; its resources may still be loading. */
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

/**
 * Resolves at the load event of the document that is there then. Rejects through the main
 * document's verdict.
 */
export async function load({ session, settings, document, navigation, fail }: Page): Promise<void> {
  // Watching the network costs CPU, which html seldom needs.
  const loadsAdditions = settings.css?.kind === 'url' || settings.javascript?.kind === 'url';
  const watched = settings.source.kind === 'url' || settings.waits.networkIdle || loadsAdditions;
  const prepared = Promise.all([
    settings.isStatic
      ? session.command(STILL)
      : // A page may close itself (as after its print()) as long as it is alone in its history, which
        // a navigation would have ended.
        settings.source.kind === 'html' &&
        session.command('Runtime.evaluate', { expression: STEP_IN_HISTORY }),
    setViewport(session, settings),
    // What a page sends is nobody's business here, and would come with each event.
    watched && session.command('Network.enable', { maxPostDataSize: 1 }),
    setsPolicyAside(settings) && session.command('Page.setBypassCSP', { enabled: true }),
    setCookies(session, settings),
    intercepts(settings) && intercept(session, settings, fail),
  ]);
  prepared.catch(() => {}); // looked at below, unless opening the page fails first
  if (settings.source.kind === 'html') {
    // Chrome takes a session's commands in order: nothing waits for the answers before, but for
    // what other processes than the page's do.
    if (settings.cookies.length > 0 || intercepts(settings)) await prepared;
    await openHtml(session, settings.source.html);
  } else {
    // A navigation moves to another process. What the one before has not answered by then is set up
    // there too late: events of the document get lost (seen on Chromium 156, a third of the pages
    // on a busy machine), and with them the end of the network's activity.
    await prepared;
    const { errorText } = await session.command('Page.navigate', { url: settings.source.url });
    if (errorText) throw document.gaveUp(settings.source.url, errorText);
  }
  await Promise.all([prepared, navigation.loaded()]);
}
