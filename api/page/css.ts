// Adds the caller's style sheet to the page, after all of its own, and waits until it is applied
// with its fonts.
import { AdditionLoad } from './addition-load.ts';
import type { Page } from './page.ts';
import { fonts, inOwnWorld } from './waits.ts';

/**
 * Works for SVG and empty documents too. A constructed sheet is exempt from Content-Security-Policy
 * and applies after those of the document. It cannot have `@import`, which needs an element.
 */
const ADD_TEXT = `text => {
  if (!/@import/i.test(text)) {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(text);
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
    return;
  }
  return new Promise(resolve => {
    const element = document.createElementNS('http://www.w3.org/1999/xhtml', 'style');
    element.onload = element.onerror = () => resolve();
    element.textContent = text;
    (document.documentElement ?? document).append(element);
  });
}`;

const ADD_LINK = `url => new Promise(resolve => {
  const element = document.createElementNS('http://www.w3.org/1999/xhtml', 'link');
  element.rel = 'stylesheet';
  element.onload = () => resolve(true);
  element.onerror = () => resolve(false);
  element.href = url;
  (document.documentElement ?? document).append(element);
})`;

/** Throws render_failed or ssrf_blocked that name `css` when it cannot be loaded. */
export async function css(page: Page): Promise<void> {
  const { session, settings } = page;
  const addition = settings.css!;
  if (addition.kind === 'inline') await inOwnWorld<void>(session, ADD_TEXT, addition.text);
  else {
    const load = new AdditionLoad(page, 'css', addition.url);
    const problem = await load.problem(await inOwnWorld<boolean>(session, ADD_LINK, addition.url));
    if (problem) throw problem;
  }
  await fonts(page);
}
