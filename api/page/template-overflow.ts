// Whether header and footer fit their heights. Chrome cuts off what does not, without an error.
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { RENDER_WARNINGS, type RenderWarning } from '../../common/contract/warnings.ts';
import { CommandFailed } from '../workers/session.ts';
import { headerFooter } from './header-footer.ts';
import type { Page } from './page.ts';
import { PX_PER_IN, type RenderSettings } from './render-settings.ts';
import { onceInOwnWorld, PageThrew } from './waits.ts';

/** A gateway accepts no command over 1 MiB, and JSON takes up to six bytes per character. */
const MAX_CHARS = 128 * 1024;
/** For the frame, and for its images, which are all `data:` URLs. */
const LOAD_MS = 500;

/**
 * Lays each template out as the print does: in standards mode, with the size of the paper. A page
 * number takes the room of one digit. The sandbox runs no scripts and the policy loads nothing, as
 * in the print, whatever the template contains.
 */
const MEASURE = `async ({ templates, widthPx, heightPx, loadMs }) => {
  const policy = "default-src 'none'; img-src data:; font-src data:; style-src 'unsafe-inline'";
  const late = new Promise(resolve => setTimeout(resolve, loadMs));
  const isTooTall = async html => {
    const frame = document.createElement('iframe');
    frame.sandbox = 'allow-same-origin';
    frame.style.cssText = 'position:fixed;border:0;width:' + widthPx + 'px;height:' + heightPx + 'px';
    frame.srcdoc = '<!doctype html><meta http-equiv="Content-Security-Policy" content="' + policy + '"><body><div></div>';
    const loaded = new Promise(resolve => frame.addEventListener('load', resolve, { once: true }));
    document.documentElement.append(frame);
    try {
      await Promise.race([loaded, late]);
      const inner = frame.contentDocument;
      inner.querySelector('div').innerHTML = html;
      for (const number of inner.querySelectorAll('.pageNumber, .totalPages')) number.textContent = '1';
      const decoded = Promise.allSettled([...inner.images].map(image => image.decode()));
      await Promise.race([decoded, late]);
      const { scrollHeight, clientHeight } = inner.querySelector('page-margin');
      return scrollHeight > clientHeight + 1;
    } finally {
      frame.remove();
    }
  };
  return Promise.all(templates.map(isTooTall));
}`;

/** Most callers send the same header and footer with every document. */
const measured = new LRUCache<string, RenderWarning[]>({ max: 1_000 });

async function measure(
  { session, settings }: Page,
  [header, footer]: [string, string],
): Promise<RenderWarning[]> {
  const { widthIn, heightIn } = settings.paper;
  await session.command('Emulation.setEmulatedMedia', { media: 'print' });
  const tooTall = await onceInOwnWorld<boolean[]>(session, MEASURE, {
    templates: [header, footer],
    widthPx: widthIn * PX_PER_IN,
    heightPx: heightIn * PX_PER_IN,
    loadMs: LOAD_MS,
  });
  return RENDER_WARNINGS.filter((_, at) => tooTall[at]);
}

/** The key of the templates in `measured`: they hold the margins. */
function keyOf(
  { headerTemplate, footerTemplate }: ReturnType<typeof headerFooter>,
  { widthIn, heightIn }: RenderSettings['paper'],
): string {
  return createHash('sha256')
    .update(JSON.stringify([headerTemplate, footerTemplate, widthIn, heightIn]))
    .digest('base64');
}

/** Whether `measureTemplates` needs nothing of the page. */
export const areMeasured = (settings: RenderSettings): boolean =>
  measured.has(keyOf(headerFooter(settings), settings.paper));

/**
 * Adds to the report's warnings. Must run on the slot's blank page, before the document is there.
 */
export async function measureTemplates(page: Page): Promise<void> {
  const templates = headerFooter(page.settings);
  const { headerTemplate, footerTemplate } = templates;
  if (headerTemplate.length + footerTemplate.length > MAX_CHARS) return;
  const key = keyOf(templates, page.settings.paper);
  try {
    const warnings = measured.get(key) ?? (await measure(page, [headerTemplate, footerTemplate]));
    measured.set(key, warnings);
    page.warnings.splice(0, Infinity, ...warnings);
  } catch (error) {
    // The PDF does not depend on it.
    if (!(error instanceof CommandFailed || error instanceof PageThrew)) throw error;
  }
}
