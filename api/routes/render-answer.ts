// The answer to a render that succeeded: the PDF and the headers that tell of it, the same for
// every caller whom the service knows.

import type { Context } from '../http/state.ts';
import type { Rendered } from '../render/render.ts';
import { PHASES } from '../store/phases.ts';

/** https://www.w3.org/TR/server-timing/ */
const serverTiming = (timings: Rendered['timings']): string =>
  PHASES.filter(phase => timings[phase] !== undefined)
    .map(phase => `${phase};dur=${timings[phase]!.toFixed(1)}`)
    .join(', ');

export function answerWithPdf(
  ctx: Context,
  { pdf, pages, sandbox, usage, timings }: Rendered,
): void {
  ctx.type = 'application/pdf';
  ctx.set('Content-Disposition', 'inline; filename="render.pdf"');
  ctx.set('Cache-Control', 'no-store');
  ctx.set('X-Pdf-Pages', String(pages));
  ctx.set('Server-Timing', serverTiming(timings));
  if (sandbox) ctx.set('X-Sandbox', 'true');
  if (usage !== undefined) ctx.set('X-Usage-Count', String(usage));
  ctx.body = pdf;
}
