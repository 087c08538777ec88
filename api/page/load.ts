// Opens the document: html is written into the blank page's own opaque origin, a url is navigated
// to. Done at the load event.
import { STILL } from '../../common/protocol.ts';
import { setCookies } from './cookies.ts';
import { setsPolicyAside } from './css.ts';
import { intercept } from './interception.ts';
import { openHtml } from './open-html.ts';
import type { Page } from './page.ts';
import { intercepts } from './render-settings.ts';
import { setViewport } from './single-page.ts';

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
