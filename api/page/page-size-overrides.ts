// What holds over the page's own rules of paged media: the sheet's size always, its margins when
// the caller asked for them, and for a single page that nothing breaks it.
import { NAMED_FORMATS } from '../../common/contract/lengths.ts';
import { SIDES } from '../../common/contract/paper.ts';
import type { Command } from '../workers/session.ts';
import type { RenderSettings } from './render-settings.ts';

/** Where rules for pages may come from that the text does not show. */
const ELSEWHERE = /<link|@import|\\/i;
/**
 * These two match wherever they begin, up to where the next may begin: what has to be looked for
 * further is looked for inside, or a hostile page would take the square of its length.
 */
const SCRIPT_TAG = /<script[^>]*/gi;
const PAGE_RULE = /@page[^{]*(?:\{[^}]*)?/gi;
const SIZE_ALONE = /^@page\s*\{\s*size:\s*(\w+)\s*(?:;\s*)?$/i;

/** A rule that names the size which the sheet has anyway, as most documents for print do. */
function saysTheSame(rule: string, { widthIn, heightIn }: RenderSettings['paper']): boolean {
  const name = SIZE_ALONE.exec(rule)?.[1]?.toLowerCase();
  const format = Object.entries(NAMED_FORMATS).find(([each]) => each.toLowerCase() === name)?.[1];
  return format?.widthIn === widthIn && format.heightIn === heightIn;
}

/**
 * Whether the page may have rules to speak against: to say it costs a twentieth of a small render.
 */
function mayHaveRules({ source, css, javascript, paper }: RenderSettings): boolean {
  if (source.kind === 'url' || css || javascript || ELSEWHERE.test(source.html)) return true;
  if (source.html.matchAll(SCRIPT_TAG).some(([tag]) => /\ssrc/i.test(tag))) return true;
  return source.html
    .matchAll(PAGE_RULE)
    .some(([rule]) => rule.includes('{') && !saysTheSame(rule, paper));
}

/** As CSS; undefined when there is nothing to say. Pure. */
export function pageSizeOverrides(settings: RenderSettings): string | undefined {
  const { singlePage, print } = settings;
  if (!singlePage && !mayHaveRules(settings)) return undefined;
  const margin = SIDES.map(side => `${print.marginIn[side]}in`).join(' ');
  const page = `@page{size:auto!important${singlePage || print.marginsHold ? `;margin:${margin}!important` : ''}}`;
  return singlePage
    ? `${page}*,::before,::after{break-before:auto!important;break-after:auto!important;page:auto!important}`
    : page;
}

/**
 * In Chromium 156 an important declaration in a page's @page wins over any of ours, so it is made
 * an ordinary one. Sheets of other origins cannot be read.
 */
const IMPOSE = `css => {
  const ours = new CSSStyleSheet();
  ours.replaceSync(css);
  document.adoptedStyleSheets.push(ours);
  const soften = rules => {
    for (const rule of rules) {
      if (rule instanceof CSSGroupingRule) soften(rule.cssRules);
      if (rule instanceof CSSPageRule) for (const name of [...rule.style]) rule.style.setProperty(name, rule.style.getPropertyValue(name));
    }
  };
  for (const sheet of document.styleSheets) {
    try {
      soften(sheet.cssRules);
    } catch {}
  }
}`;

/**
 * At another scale than 1, Chromium 156 prints an empty page when the root is written from right to
 * left, but not when only the body is. Selectors that look at `dir` match as before.
 */
const MOVE_DIRECTION = `() => {
  const { documentElement: root, body } = document;
  if (!body || getComputedStyle(root).direction !== 'rtl') return;
  body.style.setProperty('direction', getComputedStyle(body).direction, 'important');
  root.style.setProperty('direction', 'ltr', 'important');
}`;

/**
 * Chrome takes a session's commands in order, so nobody needs to wait for this. A page that broke
 * these globals for itself is printed by its own rules.
 */
export function applyPageSizeOverrides(command: Command, settings: RenderSettings): void {
  const run = (expression: string) =>
    void command('Runtime.evaluate', { expression }).catch(() => {});
  if (settings.singlePage || settings.print.scale !== 1) run(`(${MOVE_DIRECTION})()`);
  const css = pageSizeOverrides(settings);
  if (css !== undefined) run(`(${IMPOSE})(${JSON.stringify(css)})`);
}
