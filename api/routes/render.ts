// POST /v1/render: its middleware, the route from the parsed body to the use case, and the PDF's
// headers.
import { ApiError, type RenderFailedReason } from '../../common/contract/errors.ts';
import {
  type InstallationRules,
  parseRenderRequest,
} from '../../common/contract/render-request.ts';
import type { AcceptedKeys } from '../accounts/accepted-keys.ts';
import {
  beginEntry,
  endTime,
  type RenderEntry,
  runEntry,
  validated,
} from '../history/render-entry.ts';
import type { RenderLog } from '../history/render-log.ts';
import { ClientClosed, untilClientDisconnects } from '../http/errors.ts';
import type { Context, Middleware } from '../http/state.ts';
import { asciiFilename, pdfFilename } from '../pdf/filename.ts';
import type { Rendered, RenderUseCase } from '../render/render.ts';

/**
 * Counts calls that fail before the render begins; a render counts its own outcome. `failed`
 * receives the reason.
 */
export const countEarlyFailures = (failed: (reason: RenderFailedReason) => void): Middleware => {
  return async (ctx, next) => {
    try {
      await next();
    } catch (error) {
      const disconnected = error instanceof ClientClosed || ctx.req.socket.destroyed;
      if (!ctx.state.rendering && !disconnected) {
        const reason = error instanceof ApiError ? error.reason : 'internal';
        if (reason) failed(reason);
      }
      throw error;
    }
  };
};

/** `renders`: absent when the dashboard is off. */
export const recordRender = (renders: RenderLog | undefined): Middleware => {
  return async (ctx, next) => {
    const entry = beginEntry(ctx);
    const work = async () => {
      try {
        await withPhases(ctx, entry, next);
      } finally {
        const { accepted } = ctx.state;
        if (accepted) entry.who = { account: accepted.accountId, key: accepted.keyId };
      }
    };
    await (renders ? renders.logged(entry, 'api', work) : runEntry(entry, work));
  };
};

/** Ends the time of a render, and sets its header (https://www.w3.org/TR/server-timing/). */
function setServerTiming(ctx: Context, entry: RenderEntry): void {
  endTime(entry);
  if (entry.phases === undefined) return;
  const entries = Object.entries(entry.phases).map(([name, ms]) => `${name};dur=${ms.toFixed(1)}`);
  const { isolation } = entry.trace;
  if (isolation) entries.push(`isolation;desc="${isolation}"`);
  ctx.set('Server-Timing', entries.join(', '));
}

/** Sets the header of a render that fails, too. */
export async function withPhases<T>(
  ctx: Context,
  entry: RenderEntry,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    setServerTiming(ctx, entry);
    throw error;
  }
}

/** `filename`: of the request. Koa encodes it (RFC 6266). */
export function setPdfHeaders(ctx: Context, filename: string | undefined): void {
  const name = pdfFilename(filename);
  ctx.attachment(name, { type: 'inline', fallback: asciiFilename(name) });
  ctx.type = 'application/pdf';
  ctx.set('Cache-Control', 'no-store');
}

export function answerWithPdf(
  ctx: Context,
  { pdf, pages, sandbox, usage }: Rendered,
  filename: string | undefined,
  entry: RenderEntry,
): void {
  const { resources, warnings } = entry.trace;
  setServerTiming(ctx, entry);
  setPdfHeaders(ctx, filename);
  ctx.set('X-Pdf-Pages', String(pages));
  if (resources.count > 0) ctx.set('X-Resource-Errors', String(resources.count));
  if (warnings.length > 0) ctx.set('X-Warnings', warnings.join(', '));
  if (sandbox) ctx.set('X-Sandbox', 'true');
  if (usage !== undefined) ctx.set('X-Usage-Count', String(usage));
  ctx.body = pdf;
}

export interface RenderRoute {
  render: RenderUseCase;
  keys: AcceptedKeys;
  rules: InstallationRules;
}

export const renderRoute = ({ render, keys, rules }: RenderRoute): Middleware => {
  return async ctx => {
    const { accepted, bodyBytes, requestId, reservation } = ctx.state;
    const { intranet, test } = accepted;
    const entry = ctx.state.entry!;
    try {
      // Only for an early error: the worker's egress guard decides by the result of the admission.
      const request = await validated(entry, ctx.state.body, () => {
        const parsed = parseRenderRequest(ctx.state.body, { ...rules, intranet });
        return test ? { ...parsed, sandbox: true } : parsed;
      });
      ctx.state.body = undefined;
      ctx.state.rendering = true;
      const rendered = await untilClientDisconnects(ctx, signal =>
        render(
          request,
          { ...accepted, requestId },
          { bodyBytes, budget: reservation },
          signal,
          entry.trace,
        ),
      );
      answerWithPdf(ctx, rendered, request.filename, entry);
    } catch (error) {
      // The cached account may be out of date: its key, its state, or its access to the intranet.
      if (
        error instanceof ApiError &&
        ['unauthorized', 'subscription_inactive', 'ssrf_blocked'].includes(error.code)
      )
        keys.forget(accepted);
      throw error;
    }
  };
};
