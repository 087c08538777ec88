// Whether header and footer fit their heights. Chrome cuts off what does not, without an error.
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { RENDER_WARNINGS, type RenderWarning } from '../../common/contract/warnings.ts';
import { CommandFailed } from '../workers/session.ts';
import { headerFooter } from './header-footer.ts';
import type { Page } from './page.ts';
import { PX_PER_IN } from './render-settings.ts';
import { onceInOwnWorld, PageThrew } from './waits.ts';

/** A gateway accepts no command over 1 MiB, and JSON takes up to six bytes per character. */
const MAX_CHARS = 128 * 1024;
/** For the images, which are all `data:` URLs. */
const IMAGES_MS = 500;

/**
 * Lays the templates out as the print does: in one document, in standards mode, at the width of the
 * paper. A page number takes the room of one digit. The load event is awaited because the next one
 * must be that of the caller's document. As in the print, nothing is loaded and no handler runs.
 */
const MEASURE = `async ({ templates, widthPx, heightPx, imagesMs }) => {
  document.open();
  const loaded = new Promise(resolve => addEventListener('load', resolve, { once: true }));
  document.write('<!doctype html>');
  document.close();
  await loaded;
  const boxes = templates.map(html => {
    const sheet = document.createElement('page-sheet');
    sheet.style.cssText = 'display:block;position:relative;width:' + widthPx + 'px;height:' + heightPx + 'px';
    const inert = new DOMParser().parseFromString(html, 'text/html');
    for (const element of inert.querySelectorAll('*'))
      for (const { name, value } of [...element.attributes])
        if (/^on|src|href$|^poster$|^background$|^data$/.test(name) && !/^\\s*(data:|#)/i.test(value))
          element.removeAttribute(name);
    // Parsed again: removed in this world, the page's world would still run a handler.
    sheet.innerHTML = inert.head.innerHTML + inert.body.innerHTML;
    document.body.append(sheet);
    for (const number of sheet.querySelectorAll('.pageNumber, .totalPages')) number.textContent = '1';
    return sheet.querySelector('page-margin');
  });
  if (document.images.length > 0) {
    const decoded = Promise.allSettled([...document.images].map(image => image.decode()));
    await Promise.race([decoded, new Promise(resolve => setTimeout(resolve, imagesMs))]);
  }
  return boxes.map(({ scrollHeight, clientHeight }) => scrollHeight > clientHeight + 1);
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
    imagesMs: IMAGES_MS,
  });
  return RENDER_WARNINGS.filter((_, at) => tooTall[at]);
}

/**
 * Adds to the report's warnings. Must run on the slot's blank page, before the document is there.
 */
export async function measureTemplates(page: Page): Promise<void> {
  const { headerTemplate, footerTemplate } = headerFooter(page.settings);
  if (headerTemplate.length + footerTemplate.length > MAX_CHARS) return;
  const { widthIn, heightIn } = page.settings.paper;
  // The templates hold the margins.
  const key = createHash('sha256')
    .update(JSON.stringify([headerTemplate, footerTemplate, widthIn, heightIn]))
    .digest('base64');
  try {
    const warnings = measured.get(key) ?? (await measure(page, [headerTemplate, footerTemplate]));
    measured.set(key, warnings);
    page.warnings.splice(0, Infinity, ...warnings);
  } catch (error) {
    // The PDF does not depend on it.
    if (!(error instanceof CommandFailed || error instanceof PageThrew)) throw error;
  }
}
