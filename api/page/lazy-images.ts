// Makes a page load its lazy content: scrolls through it, and waits for the images that this
// starts.
import type { Page } from './page.ts';
import { inOwnWorld } from './waits.ts';

const BOUNDS = {
  scrollMs: 10_000,
  imagesMs: 10_000,
  /** At each screen, since scripts often react only when scrolling has stopped for a moment. */
  pauseMs: 150,
  /** For all pauses. A longer page is scrolled without further ones. */
  pausesMs: 5_000,
  /**
   * How much a page may grow while scrolling, in screens. An infinite list has no end.
   */
  growthScreens: 50,
  /** Boxes with a scroll bar of their own. */
  boxes: 20,
  /** Checking more elements costs more than the page's layout. */
  elements: 20_000,
};

/**
 * In an isolated world, whose clock and frames the page cannot change. The wait for a frame has a
 * limit.
 */
const LOOK_AT_ALL = `async ({ scrollMs, imagesMs, pauseMs, pausesMs, growthScreens, boxes, elements }) => {
  const start = performance.now();
  const sleep = ms => new Promise(resolve => setTimeout(resolve, ms));
  const frame = () => Promise.race([new Promise(resolve => requestAnimationFrame(() => setTimeout(resolve))), sleep(200)]);
  const roots = () => {
    const found = [document];
    for (const root of found)
      for (const element of [...root.querySelectorAll('*')].slice(0, elements)) if (element.shadowRoot) found.push(element.shadowRoot);
    return found;
  };
  const all = selector => roots().flatMap(root => [...root.querySelectorAll(selector)]);

  const frames = new Set();
  const makeEager = () => {
    for (const element of all('img[loading=lazy i], iframe[loading=lazy i]')) {
      if (element.localName === 'iframe') {
        frames.add(element);
        element.addEventListener('load', () => frames.delete(element), { once: true });
      }
      element.loading = 'eager';
    }
  };
  const scrollTo = (box, top) => box.scrollTo({ top, behavior: 'instant' });
  let pausedMs = 0;
  const pause = async () => {
    if (pausedMs >= pausesMs) return;
    pausedMs += pauseMs;
    await sleep(pauseMs);
  };
  const scrollThrough = async box => {
    const screen = Math.max(box.clientHeight, 100);
    const end = box.scrollHeight + growthScreens * screen;
    for (let top = 0; top < Math.min(box.scrollHeight, end) && performance.now() - start < scrollMs; top += screen) {
      scrollTo(box, top);
      await frame();
      if (top > 0) await pause();
      makeEager();
    }
  };
  const scrolls = element =>
    element.scrollHeight > element.clientHeight + 1 && element.clientHeight >= 50 && /auto|scroll/.test(getComputedStyle(element).overflowY);

  makeEager();
  const root = document.scrollingElement ?? document.documentElement;
  if (!root) return;
  await scrollThrough(root);
  const nested = all('*').slice(0, elements).filter(element => element !== root && scrolls(element)).slice(0, boxes);
  for (const box of nested) {
    const before = box.scrollTop;
    box.scrollIntoView({ block: 'start', behavior: 'instant' });
    await scrollThrough(box);
    scrollTo(box, before);
  }
  scrollTo(root, 0);
  await frame();

  const began = performance.now();
  const loading = () => frames.size > 0 || all('img').some(image => !image.complete);
  for (let quiet = 0; quiet < 2 && performance.now() - began < imagesMs; quiet = loading() ? 0 : quiet + 1) await sleep(50);
}`;

export const lazyImages = ({ session }: Page): Promise<void> =>
  inOwnWorld<void>(session, LOOK_AT_ALL, BOUNDS);
