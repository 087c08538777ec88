// The viewport before loading, and the height of a single page after it.
import { renderFailed } from '../../common/contract/errors.ts';
import type { Budget, Printed } from '../pdf/printed.ts';
import type { Session } from '../workers/session.ts';
import { deviceMetrics } from './load.ts';
import { PX_PER_IN, printArea, type RenderSettings } from './render-settings.ts';
import { inOwnWorld } from './waits.ts';

const MIN_HEIGHT_IN = 0.5;
const MAX_HEIGHT_IN = 200;
/** Chrome's minimum. */
const MIN_SCALE = 0.1;

/**
 * Chrome shrinks content that is too wide for its sheet, by at most this factor; the rest is
 * clipped.
 */
const MAX_SHRINK = 1.5;

interface Measured {
  heightPx: number;
  /** Of everything that sticks out to the right too. */
  widthPx: number;
  /** Content outside is hidden, such as an off-canvas menu. */
  hides: boolean;
}

/**
 * The content's size. `scrollHeight` is a whole number and never less than the viewport, so a short
 * page is measured by its boxes and texts. Without a doctype html and body fill the viewport, so
 * they temporarily get the height of their content. At most 20,000 nodes are examined: a page with
 * more is not short. A body that scrolls inside itself is opened first, or what it hides would be
 * cut off. On a short page, what is fixed to the lower edge goes below the content.
 */
const MEASURE = `() => {
  const { documentElement: root, body } = document;
  if (!root || !body) return { heightPx: 0, widthPx: 0, hides: false };
  const hides = [root, body].some(element => ['hidden', 'clip'].includes(getComputedStyle(element).overflowX));
  if (body.scrollHeight > body.clientHeight && getComputedStyle(root).overflowY !== 'visible') {
    for (const { style } of [root, body]) {
      style.setProperty('overflow-x', 'clip', 'important');
      style.setProperty('overflow-y', 'visible', 'important');
    }
  }
  const sheets = [...document.adoptedStyleSheets];
  if (document.compatMode !== 'CSS1Compat') {
    const unfilled = new CSSStyleSheet();
    unfilled.replaceSync('html,body{height:fit-content!important}');
    document.adoptedStyleSheets.push(unfilled);
  }
  const heightPx = height();
  const widthPx = root.scrollWidth;
  document.adoptedStyleSheets = sheets;
  return { heightPx, widthPx, hides };

  function height() {
    const end = root.getBoundingClientRect().bottom + scrollY;
    const { scrollHeight } = root;
    if (scrollHeight > innerHeight) return Math.abs(end - scrollHeight) < 1 ? Math.max(end, scrollHeight) : scrollHeight;
    const text = document.createRange();
    let [bottom, fixedBottom, below] = [0, 0, 0];
    const nodes = document.createTreeWalker(body, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
    for (let node = nodes.nextNode(), seen = 0; node && seen < 20000; seen++) {
      const isText = node.nodeType === Node.TEXT_NODE;
      if (isText) text.selectNode(node);
      const box = (isText ? text : node).getBoundingClientRect();
      if (isText || box.height === 0 || getComputedStyle(node).position !== 'fixed') {
        bottom = Math.max(bottom, box.bottom);
        node = nodes.nextNode();
        continue;
      }
      if (box.top <= innerHeight / 2) fixedBottom = Math.max(fixedBottom, box.bottom);
      else if (box.top < innerHeight) below = Math.max(below, innerHeight - box.top);
      while (node && !(node = nodes.nextSibling())) if (!(node = nodes.parentNode())) break;
    }
    const { marginBottom, paddingBottom, borderBottomWidth } = getComputedStyle(body);
    bottom += parseFloat(marginBottom) + parseFloat(paddingBottom) + parseFloat(borderBottomWidth) + scrollY;
    return Math.max(Math.min(Math.max(bottom, end), Math.max(scrollHeight, innerHeight)), fixedBottom) + below;
  }
}`;

/**
 * In print the viewport is the sheet, so content measured in `vh` grows with the sheet made for it
 * and never fits. This writes the viewport's current height into those styles, and into a root that
 * fills it, instead. What is placed from the lower edge of the viewport is placed from that of the
 * root. Without a doctype, a negative margin at the end makes a body larger than the viewport that
 * it fills, so a short one gets the height of its content. Sheets of other origins cannot be read
 * and are left as they are. An element fixed beyond the lower edge would be beyond that of every
 * sheet: a partly visible one is moved up, an invisible one, such as a banner that has yet to slide
 * in, is hidden.
 */
const FREEZE = `heightPx => {
  const unit = /(-?[\\d.]+)(?:[sld]?v(?:h|b|min|max))\\b/g;
  const inPx = { vmin: Math.min(innerWidth, heightPx), vmax: Math.max(innerWidth, heightPx) };
  const freeze = style => {
    for (const name of [...style]) {
      const value = style.getPropertyValue(name);
      if (!unit.test(value)) continue;
      const frozen = value.replace(unit, (text, number) => (number * (inPx[text.replace(/[-\\d.]+[sld]?/, '')] ?? heightPx)) / 100 + 'px');
      style.setProperty(name, frozen, style.getPropertyPriority(name));
    }
  };
  const walk = rules => {
    for (const rule of rules) {
      if (rule.style) freeze(rule.style);
      if (rule.cssRules) walk(rule.cssRules);
    }
  };
  for (const sheet of [...document.styleSheets, ...document.adoptedStyleSheets]) {
    try {
      walk(sheet.cssRules);
    } catch {}
  }
  for (const element of document.querySelectorAll('[style*="v"]')) freeze(element.style);
  const root = document.documentElement;
  const hasDoctype = document.compatMode === 'CSS1Compat';
  const fills = hasDoctype ? root.getBoundingClientRect().height === heightPx : root.scrollHeight > heightPx;
  const content = document.createRange();
  const body = document.body ?? root;
  content.selectNodeContents(body);
  const contentPx = content.getBoundingClientRect().bottom + scrollY;
  const isShort = !hasDoctype && contentPx < heightPx;
  if (fills) root.style.setProperty('height', (isShort ? contentPx : heightPx) + 'px', 'important');
  if (fills && isShort) body.style.setProperty('height', 'fit-content', 'important');
  const all = root.getElementsByTagName('*');
  let anchored = false;
  for (let i = 0; i < all.length && i < 20000; i++) {
    const { top, bottom } = all[i].getBoundingClientRect();
    if (bottom < innerHeight) continue;
    const { position } = getComputedStyle(all[i]);
    anchored ||= position === 'absolute';
    if (bottom === innerHeight || top <= innerHeight / 2 || position !== 'fixed') continue;
    const moved = top < innerHeight ? { top: 'auto', bottom: '0', transform: 'none' } : { display: 'none' };
    for (const name in moved) all[i].style.setProperty(name, moved[name], 'important');
  }
  if (!anchored) return;
  root.style.setProperty(hasDoctype ? 'min-height' : 'height', heightPx + 'px', 'important');
  if (getComputedStyle(root).position === 'static') root.style.position = 'relative';
}`;

const freezeViewportUnits = (session: Session, settings: RenderSettings) =>
  inOwnWorld<void>(session, FREEZE, printArea(settings).heightPx);

/** `scale` is the caller's, or less where the content is wider than the sheet. */
export interface Sheet {
  heightIn: number;
  scale: number;
}

async function measureAt(session: Session, width: number, height: number): Promise<Measured> {
  await session.command('Emulation.setDeviceMetricsOverride', deviceMetrics(width, height));
  return inOwnWorld<Measured>(session, MEASURE);
}

/**
 * Content that is too wide is laid out wider, and printed smaller by as much. What grows with its
 * sheet (`width: 150%`) never fits, and what the page hides need not: there Chrome does what it
 * does.
 */
async function measureWide(
  session: Session,
  settings: RenderSettings,
  { widthPx: wantedPx, hides }: Measured,
): Promise<{ heightPx: number; factor: number }> {
  const { widthPx, heightPx } = printArea(settings);
  const wide = hides ? undefined : await measureAt(session, wantedPx, heightPx);
  const factor = widthPx / wantedPx;
  if (wide && wide.widthPx <= wantedPx + 1) return { heightPx: wide.heightPx * factor, factor };
  const shrunk = Math.min(wantedPx, Math.round(widthPx * MAX_SHRINK));
  const cut = await measureAt(session, shrunk, heightPx);
  return { heightPx: (cut.heightPx * widthPx) / shrunk, factor: 1 };
}

/**
 * The sheet for the content as it is now, margins included. Throws output_limit when no sheet is so
 * tall.
 */
async function measureSheet(session: Session, settings: RenderSettings): Promise<Sheet> {
  const { scale, marginIn } = settings.print;
  const measured = await inOwnWorld<Measured>(session, MEASURE);
  const isWide = measured.widthPx > printArea(settings).widthPx + 1;
  const { heightPx, factor } = isWide
    ? await measureWide(session, settings, measured)
    : { ...measured, factor: 1 };
  const heightIn = (Math.ceil(heightPx) * scale) / PX_PER_IN + marginIn.top + marginIn.bottom;
  return { heightIn: boundedHeight(heightIn), scale: Math.max(MIN_SCALE, scale * factor) };
}

/** At least half an inch, and never more than Chrome and PDF readers can take. */
function boundedHeight(heightIn: number): number {
  if (heightIn > MAX_HEIGHT_IN)
    throw renderFailed(
      'output_limit',
      `The content is ${heightIn.toFixed(1)} in tall and does not fit on one page of at most ${MAX_HEIGHT_IN} in. Print on several pages, or use a smaller \`scale\`.`,
    );
  // Chrome takes whole points and rounds up: a hair too much would be one more.
  return Math.max(MIN_HEIGHT_IN, Number(heightIn.toFixed(6)));
}

/** After this time no further sheet is tried for a single page: the shortest so far is used. */
const SEARCH_MS = 2_500;
const PX_IN = 1 / PX_PER_IN;
/** A search ends when it is this close: in inches, and as a share of the sheet. */
const CLOSE = { inches: 8 * PX_IN, share: 0.01 };

/**
 * Prints on the tallest sheet, then on shorter ones. `heightIn`, the content's height on the
 * screen, is too short, mostly by some pixels, so each try adds the geometric mean of the largest
 * addition that was too short and the smallest that was enough.
 */
async function searchSheet(
  print: (heightIn: number) => Promise<Printed>,
  heightIn: number,
  untilMs: number,
  budget: Budget,
): Promise<Printed> {
  let held = await print(MAX_HEIGHT_IN);
  if (held.pages > 1) {
    budget.release(held.pdf.bytes);
    throw renderFailed(
      'output_limit',
      `The content does not fit on one page of at most ${MAX_HEIGHT_IN} in. It may grow with the height of the page. ` +
        'Print on several pages, or give the content a fixed height.',
    );
  }
  let tooShort = PX_IN;
  let enough = MAX_HEIGHT_IN - heightIn;
  try {
    while (
      enough - tooShort > Math.max(CLOSE.inches, (heightIn + enough) * CLOSE.share) &&
      performance.now() < untilMs
    ) {
      const excess = Math.sqrt(tooShort * enough);
      const printed = await print(heightIn + excess);
      const fits = printed.pages === 1;
      budget.release((fits ? held : printed).pdf.bytes);
      if (fits) [held, enough] = [printed, excess];
      else tooShort = excess;
    }
    return held;
  } catch (error) {
    budget.release(held.pdf.bytes);
    throw error;
  }
}

/**
 * Prints the whole document on one page. `printOn` prints on a sheet; each PDF is taken from
 * `budget`. Throws output_limit when no sheet is tall enough.
 */
export async function printSinglePage(
  session: Session,
  settings: RenderSettings,
  printOn: (sheet: Sheet) => Promise<Printed>,
  budget: Budget,
): Promise<Printed> {
  const untilMs = performance.now() + SEARCH_MS;
  const first = await printOn(await measureSheet(session, settings));
  if (first.pages === 1) return first;
  budget.release(first.pdf.bytes);
  await freezeViewportUnits(session, settings);
  const frozen = await measureSheet(session, settings);
  const printAt = (heightIn: number) => printOn({ ...frozen, heightIn: boundedHeight(heightIn) });
  const second = await printAt(frozen.heightIn + PX_IN);
  if (second.pages === 1) return second;
  budget.release(second.pdf.bytes);
  return searchSheet(printAt, frozen.heightIn, untilMs, budget);
}
