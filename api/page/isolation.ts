// Whether a render may use a warm page: a sealed page of a worker that served the same account
// before.
import { hasTemplates, templateHtml } from './header-footer.ts';
import { type RenderSettings, staysAsWritten } from './render-settings.ts';
import { DYNAMIC_REASONS, dynamicReason } from './static-document.ts';
import { areMeasured } from './template-overflow.ts';

/**
 * Why a render had a fresh page. `off`: renderers are not reused here, for this account, or by this
 * worker. `request`: a field of the request loads, runs or waits for something. `templates`: a
 * header or footer that is not measured yet. `not_static`: the document was taken for static, and
 * tried to load something. The others are of the document, its style sheet, header or footer.
 */
export const FRESH_REASONS = [
  'off',
  'request',
  'templates',
  'not_static',
  ...DYNAMIC_REASONS,
] as const;
export type FreshReason = (typeof FRESH_REASONS)[number];

/** Undefined when a warm page may be used. */
export function freshReason(settings: RenderSettings, reuse: boolean): FreshReason | undefined {
  if (!reuse) return 'off';
  const { source, css } = settings;
  if (source.kind !== 'html' || !staysAsWritten(settings) || css?.kind === 'url') return 'request';
  if (hasTemplates(settings) && !areMeasured(settings)) return 'templates';
  // A `<` could end the style.
  if (css?.text.includes('<')) return 'css';
  const { headerHtml, footerHtml } = settings.print;
  const style = css && `<style>${css.text}</style>`;
  // Templates as Chrome gets them.
  const [header, footer] = [headerHtml, footerHtml].map(html => html && templateHtml(html));
  for (const html of [source.html, style, header, footer]) {
    const reason = html && dynamicReason(html);
    if (reason) return reason;
  }
  return undefined;
}
