// Whether a document is still: nothing in it can move, run, or load by being laid out. Such a page needs no screen frames, which cost a seventh of a
// render's CPU, and has no web fonts to wait for.
import { intercepts } from './interception.ts';
import type { Plan } from './render-settings.ts';

/** Looking through more costs more than it saves. */
const MAX_LENGTH = 256 * 1024;

/**
 * What may make a document live: scripts and handlers, other documents, media, animations, fonts, images that only layout asks for, loading put off,
 * refreshes; and what is fetched at all, since Chrome loads at half speed for a hidden page. Errs on the side of living; a backslash could hide any of these in CSS.
 */
const LIVING = new RegExp(
  [
    '<script|\\bon\\w+\\s*=|javascript:',
    '<link|<i?frame|<object|<embed|<portal|<applet|http-equiv',
    '<progress|<video|<audio|<canvas|<animate|<set\\b|<marquee|<image|<use|autofocus|contenteditable',
    '@import|@font-face|@keyframes|animation|transition|content-visibility',
    'url\\(|image-set|\\bsrc\\s*=(?!\\s*["\']?data:)|\\bbackground\\s*=|\\bloading\\s*=|\\bsrcset\\s*=',
    '\\\\',
  ].join('|'),
  'i',
);

function look(plan: Plan): boolean {
  const { source, singlePage, waits } = plan;
  if (source.kind !== 'html' || source.html.length > MAX_LENGTH || singlePage) return false;
  if (waits.selector !== undefined || waits.expression !== undefined || waits.networkIdle || waits.delayMs > 0) return false;
  if (plan.css || plan.javascript || plan.lazyImages || plan.cookies.length > 0 || intercepts(plan)) return false;
  return !LIVING.test(source.html);
}

/** Two steps of a render ask, and looking takes longer than all else that they do here. */
const looked = new WeakMap<Plan, boolean>();

/** A page that somebody waits for, adds to, or that is measured, counts as living. Told once for a plan, which does not change. */
export function isStill(plan: Plan): boolean {
  let still = looked.get(plan);
  if (still === undefined) {
    still = look(plan);
    looked.set(plan, still);
  }
  return still;
}
