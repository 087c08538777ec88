// Opens the document: html is written into the blank page's own opaque origin, a url is navigated to. Done at the load event.
import { STILL } from '../../common/protocol.ts';
import type { Page } from './page.ts';
import { setViewport } from './single-page.ts';
import { isStill } from './still.ts';

/** Resolves at the load event of the document that is there then. Rejects through the main document's verdict. */
export async function load({ session, plan, document }: Page): Promise<void> {
  const loaded = new Promise<void>(resolve => session.on('Page.loadEventFired', () => resolve()));
  // Chrome takes a session's commands in order: nothing waits for these answers. Watching the network costs CPU, which html seldom needs.
  const watched = plan.source.kind === 'url' || plan.waits.networkIdle;
  const prepared = Promise.all([
    isStill(plan) && session.command(STILL),
    setViewport(session, plan),
    watched && session.command('Network.enable', {}),
  ]);
  prepared.catch(() => {}); // looked at below, unless opening the page fails first
  if (plan.source.kind === 'html') {
    await session.command('Page.setDocumentContent', { frameId: session.frameId, html: plan.source.html });
  } else {
    const { errorText } = await session.command('Page.navigate', { url: plan.source.url });
    if (errorText) throw document.gaveUp(plan.source.url, errorText);
  }
  await Promise.all([prepared, loaded]);
}
