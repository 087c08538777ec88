// Opens the document: html is written into the blank page's own opaque origin, a url is navigated to. Done at the load event.
import { STILL } from '../../common/protocol.ts';
import { setCookies } from './cookies.ts';
import { setsPolicyAside } from './css.ts';
import { intercept, intercepts } from './interception.ts';
import { openHtml } from './open-html.ts';
import type { Page } from './page.ts';
import { setViewport } from './single-page.ts';
import { isStill } from './static-document.ts';

const STEP_IN_HISTORY = "history.pushState(null, '')";

/** Resolves at the load event of the document that is there then. Rejects through the main document's verdict. */
export async function load({ session, plan, document, movement, fail }: Page): Promise<void> {
  // Watching the network costs CPU, which html seldom needs.
  const loadsAdditions = plan.css?.kind === 'url' || plan.javascript?.kind === 'url';
  const watched = plan.source.kind === 'url' || plan.waits.networkIdle || loadsAdditions;
  const prepared = Promise.all([
    isStill(plan)
      ? session.command(STILL)
      : // A page may close itself (as after its print()) as long as it is alone in its history, which a navigation would have ended.
        plan.source.kind === 'html' && session.command('Runtime.evaluate', { expression: STEP_IN_HISTORY }),
    setViewport(session, plan),
    // What a page sends is nobody's business here, and would come with each event.
    watched && session.command('Network.enable', { maxPostDataSize: 1 }),
    setsPolicyAside(plan) && session.command('Page.setBypassCSP', { enabled: true }),
    setCookies(session, plan),
    intercepts(plan) && intercept(session, plan, fail),
  ]);
  prepared.catch(() => {}); // looked at below, unless opening the page fails first
  if (plan.source.kind === 'html') {
    // Chrome takes a session's commands in order: nothing waits for the answers before, but for what other processes than the page's do.
    if (plan.cookies.length > 0 || intercepts(plan)) await prepared;
    await openHtml(session, plan.source.html);
  } else {
    // A navigation moves to another process. What the one before has not answered by then is set up there too late: events of the document get lost
    // (seen on Chromium 156, a third of the pages on a busy machine), and with them the end of the network's activity.
    await prepared;
    const { errorText } = await session.command('Page.navigate', { url: plan.source.url });
    if (errorText) throw document.gaveUp(plan.source.url, errorText);
  }
  await Promise.all([prepared, movement.loaded()]);
}
