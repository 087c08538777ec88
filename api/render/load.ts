// Opens the document: html is written into the blank page's own opaque origin, a url is navigated to. Done at the load event.
import { STILL } from '../../common/protocol.ts';
import type { Page } from './page.ts';
import { setViewport } from './single-page.ts';
import { isStill } from './still.ts';

/** Resolves at the load event of the document that is there then. Rejects through the main document's verdict. */
export async function load({ session, plan, document }: Page): Promise<void> {
  const loaded = new Promise<void>(resolve => session.on('Page.loadEventFired', () => resolve()));
  // Watching the network costs CPU, which html seldom needs.
  const watched = plan.source.kind === 'url' || plan.waits.networkIdle;
  const prepared = Promise.all([
    isStill(plan) && session.command(STILL),
    setViewport(session, plan),
    // What a page sends is nobody's business here, and would come with each event.
    watched && session.command('Network.enable', { maxPostDataSize: 1 }),
  ]);
  prepared.catch(() => {}); // looked at below, unless opening the page fails first
  if (plan.source.kind === 'html') {
    // Chrome takes a session's commands in order: nothing waits for the answers before.
    await session.command('Page.setDocumentContent', { frameId: session.frameId, html: plan.source.html });
  } else {
    // A navigation moves to another process. What the one before has not answered by then is set up there too late: events of the document get lost
    // (seen on Chromium 156, a third of the pages on a busy machine), and with them the end of the network's activity.
    await prepared;
    const { errorText } = await session.command('Page.navigate', { url: plan.source.url });
    if (errorText) throw document.gaveUp(plan.source.url, errorText);
  }
  await Promise.all([prepared, loaded]);
}
