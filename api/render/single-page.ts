// The viewport before loading, and the height of a single page after it.
import { renderFailed } from '../contract/errors.ts';
import type { Plan } from './plan.ts';
import type { Session } from './session.ts';
import { inOwnWorld } from './waits.ts';

const PX_PER_IN = 96;
export const MIN_HEIGHT_IN = 0.5;
export const MAX_HEIGHT_IN = 200;

/** The width and height of the print area in CSS pixels, as the page sees it under `scale`. */
export function printArea({ paper, print }: Plan): { widthPx: number; heightPx: number } {
  const { top, right, bottom, left } = print.marginIn;
  const px = (inches: number) => Math.max(1, Math.round((inches * PX_PER_IN) / print.scale));
  return { widthPx: px(paper.widthIn - left - right), heightPx: px(paper.heightIn - top - bottom) };
}

/** Media from the first moment, so that what only print styles use is loaded too; for a single page also the paper's width. */
export async function setViewport(session: Session, plan: Plan): Promise<void> {
  const { widthPx, heightPx } = printArea(plan);
  const metrics = { width: widthPx, height: heightPx, deviceScaleFactor: 1, mobile: false };
  await Promise.all([
    session.command('Emulation.setEmulatedMedia', { media: plan.media }),
    plan.singlePage && session.command('Emulation.setDeviceMetricsOverride', metrics),
  ]);
}

/**
 * The content's height. `scrollHeight` is never less than the viewport, so a short page is measured by its boxes and texts instead; without a doctype
 * html and body fill the viewport themselves and say nothing. At most 20,000 elements are looked at: a page with more is not short.
 */
const MEASURE = `() => {
  const { documentElement: root, body } = document;
  if (!root || !body) return 0;
  if (root.scrollHeight > root.clientHeight) return root.scrollHeight;
  const texts = document.createRange();
  texts.selectNodeContents(body);
  let bottom = texts.getBoundingClientRect().bottom;
  const all = body.getElementsByTagName('*');
  for (let i = 0; i < all.length && i < 20000; i++) bottom = Math.max(bottom, all[i].getBoundingClientRect().bottom);
  const { marginBottom, paddingBottom, borderBottomWidth } = getComputedStyle(body);
  bottom += parseFloat(marginBottom) + parseFloat(paddingBottom) + parseFloat(borderBottomWidth);
  if (document.compatMode === 'CSS1Compat') bottom = Math.max(bottom, root.getBoundingClientRect().bottom);
  return Math.min(bottom + scrollY, root.scrollHeight);
}`;

/**
 * In print the viewport is the sheet, so content measured in `vh` grows with the sheet made for it and never fits. This writes the viewport's present
 * height into those styles, and into a root that fills it, instead. Sheets of other origins cannot be read and are left as they are.
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
  if (root.getBoundingClientRect().height === root.clientHeight) root.style.setProperty('height', root.clientHeight + 'px', 'important');
}`;

export const freezeViewportUnits = (session: Session, plan: Plan) => inOwnWorld<void>(session, FREEZE, printArea(plan).heightPx);

/** The sheet's height in inches for the content as it is now, margins included. Throws output_limit when no sheet is so tall. */
export async function measureSheet(session: Session, { print }: Plan): Promise<number> {
  const heightPx = await inOwnWorld<number>(session, MEASURE);
  const heightIn = (Math.ceil(heightPx) * print.scale) / PX_PER_IN + print.marginIn.top + print.marginIn.bottom;
  return boundedHeight(heightIn);
}

/** At least half an inch, and never more than Chrome and PDF readers can take. */
export function boundedHeight(heightIn: number): number {
  if (heightIn > MAX_HEIGHT_IN)
    throw renderFailed(
      'output_limit',
      `The content is ${heightIn.toFixed(1)} in tall and does not fit on one page of at most ${MAX_HEIGHT_IN} in. Print it on several pages, or with a smaller scale.`,
    );
  return Math.max(MIN_HEIGHT_IN, heightIn);
}
