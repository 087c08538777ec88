// POST /v1/render: from the parsed body to the PDF's headers. What a render is, the use case knows.
import type { AcceptedKeys } from '../accounts/accepted-keys.ts';
import { ApiError } from '../contract/errors.ts';
import { parseRenderRequest } from '../contract/render-request.ts';
import type { Rendered, RenderUseCase } from '../render.ts';
import { PHASES } from '../store/phases.ts';
import { whileCallerWaits } from './hang-up.ts';
import type { Middleware } from './state.ts';

export interface RenderRoute {
  render: RenderUseCase;
  keys: AcceptedKeys;
  /** Ports that a page may have, and those of the operator's allow-list for accounts with intranet. */
  ports: { ports: number[]; allowPorts: number[] };
}

/** https://www.w3.org/TR/server-timing/ */
const serverTiming = (timings: Rendered['timings']): string =>
  PHASES.filter(phase => timings[phase] !== undefined)
    .map(phase => `${phase};dur=${timings[phase]!.toFixed(1)}`)
    .join(', ');

export const renderRoute = ({ render, keys, ports }: RenderRoute): Middleware => {
  return async ctx => {
    const { accepted, bodyBytes, requestId, reservation } = ctx.state;
    const { intranet, ...caller } = accepted;
    try {
      // The guard of the worker decides by what the admission says; this is only to tell the caller early.
      const request = parseRenderRequest(ctx.state.body, { ...ports, intranet });
      ctx.state.body = undefined;
      ctx.state.rendering = true;
      const { pdf, pages, sandbox, usage, timings } = await whileCallerWaits(ctx, signal =>
        render(request, { ...caller, requestId }, { bodyBytes, room: reservation }, signal),
      );
      ctx.type = 'application/pdf';
      ctx.set('Content-Disposition', 'inline; filename="render.pdf"');
      ctx.set('Cache-Control', 'no-store');
      ctx.set('X-Pdf-Pages', String(pages));
      ctx.set('Server-Timing', serverTiming(timings));
      if (sandbox) ctx.set('X-Sandbox', 'true');
      if (usage !== undefined) ctx.set('X-Usage-Count', String(usage));
      ctx.body = pdf;
    } catch (error) {
      // What is remembered of the account may be out of date: its key, its state, or whether it may reach the intranet.
      if (error instanceof ApiError && ['unauthorized', 'subscription_inactive', 'ssrf_blocked'].includes(error.code))
        keys.forget(accepted);
      throw error;
    }
  };
};
