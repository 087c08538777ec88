// POST /v1/render: from the parsed body to the PDF's headers. What a render is, the use case knows.

import { ApiError } from '../../common/contract/errors.ts';
import { parseRenderRequest } from '../../common/contract/render-request.ts';
import type { AcceptedKeys } from '../accounts/accepted-keys.ts';
import { redactedRequest } from '../history/redacted-request.ts';
import { untilClientDisconnects } from '../http/client-disconnect.ts';
import type { Middleware } from '../http/state.ts';
import type { RenderUseCase } from '../render/render.ts';
import { answerWithPdf } from './render-answer.ts';

export interface RenderRoute {
  render: RenderUseCase;
  keys: AcceptedKeys;
  /**
   * Ports that a page may have, and those of the operator's allow-list for accounts with intranet.
   */
  ports: { ports: number[]; allowPorts: number[] };
}

export const renderRoute = ({ render, keys, ports }: RenderRoute): Middleware => {
  return async ctx => {
    const { accepted, bodyBytes, requestId, reservation } = ctx.state;
    const { intranet, keyId: _, parallel: __, ...caller } = accepted;
    const { entry } = ctx.state;
    try {
      // The guard of the worker decides by what the admission says; this is only to tell the caller
      // early.
      const request = parseRenderRequest(ctx.state.body, { ...ports, intranet });
      ctx.state.body = undefined;
      ctx.state.rendering = true;
      if (entry) entry.request = redactedRequest(request);
      const rendered = await untilClientDisconnects(ctx, signal =>
        render(
          request,
          { ...caller, requestId },
          { bodyBytes, budget: reservation },
          signal,
          entry?.trace,
        ),
      );
      answerWithPdf(ctx, rendered);
    } catch (error) {
      // What is remembered of the account may be out of date: its key, its state, or whether it may
      // reach the intranet.
      if (
        error instanceof ApiError &&
        ['unauthorized', 'subscription_inactive', 'ssrf_blocked'].includes(error.code)
      )
        keys.forget(accepted);
      throw error;
    }
  };
};
