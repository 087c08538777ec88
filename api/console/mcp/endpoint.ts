// POST /mcp: Streamable HTTP of the Model Context Protocol, in the current revision and those of
// 2025. Passes each message to the SDK and its response to the client.
import { randomUUID } from 'node:crypto';
import { invalid } from '../../../common/contract/errors.ts';
import { beginEntry } from '../../history/render-entry.ts';
import type { AccountShares } from '../../http/account-shares.ts';
import { ClientClosed, untilClientDisconnects } from '../../http/errors.ts';
import type { Context, Middleware } from '../../http/state.ts';
import { createCancellations } from './cancellations.ts';
import { headersOf, message, write } from './exchange.ts';
import { MCP_PATH } from './protected-resource.ts';
import type { McpCall } from './render-pdf.ts';
import { createServer, type Sdk, type ServerDeps } from './server.ts';

/** Requires `state.access` and the parsed body. */
export function endpoint(deps: ServerDeps & { shares: AccountShares }): Middleware {
  const { publicUrl, store, shares, log } = deps;
  const cancellations = createCancellations(store, log, () => new ClientClosed());
  let sdk: Promise<Sdk> | undefined;

  function callOf(ctx: Context, signal: AbortSignal): McpCall {
    const { state } = ctx;
    const { requestId, bodyBytes, reservation } = state;
    const access = state.access!;
    return {
      ...{ access, requestId, bodyBytes, reservation, signal },
      beginEntry: () => beginEntry(ctx),
      reserveForPdf: bytes => shares.reserve(ctx, access.account, bytes),
      failed: error => {
        if (error instanceof ClientClosed) state.code = 'client_closed';
        else
          Object.assign(state, { code: error.code, ...(error.reason && { reason: error.reason }) });
      },
    };
  }

  async function answer(ctx: Context, body: unknown, signal: AbortSignal): Promise<void> {
    sdk ??= import('@modelcontextprotocol/server');
    const loaded = await sdk;
    const { requestId } = ctx.state;
    const { grantId } = ctx.state.access!;
    const { method, id, params } = message(body);
    const session = ctx.get('Mcp-Session-Id') || undefined;
    if (method === 'notifications/cancelled')
      await cancellations.cancel(grantId, session, message(params).requestId);
    // The session only identifies the client's calls for their cancellation. It is not stored, and
    // every process accepts any.
    if (method === 'initialize') ctx.set('Mcp-Session-Id', randomUUID());
    const isCall = method === 'tools/call';
    const cancellable = cancellations.begin(grantId, isCall ? session : undefined, id);
    const call = callOf(ctx, AbortSignal.any([signal, cancellable.signal]));
    const handler = loaded.createMcpHandler(() => createServer(loaded, deps, call), {
      // Nothing ever changes here, and a subscriber would keep a connection open forever.
      maxSubscriptions: 0,
      // A stream sends a comment every 15 s, so that no proxy closes it as idle during a render.
      ...(isCall && { responseMode: 'sse' }),
      onerror: error => log.debug({ requestId, reason: error.name }, 'rejected an MCP message'),
    });
    try {
      const request = new Request(publicUrl + MCP_PATH, {
        method: 'POST',
        headers: headersOf(ctx),
        signal,
      });
      await write(ctx, await handler.fetch(request, { parsedBody: body }));
    } catch (error) {
      // After `ctx.respond = false` a failure can only be reported by closing the connection.
      throw ctx.respond === false ? new ClientClosed() : error;
    } finally {
      cancellable.end();
    }
  }

  return async ctx => {
    const { body } = ctx.state;
    ctx.state.body = undefined;
    // The protocol dropped batches in 2025; one batch could hold a thousand renders.
    if (Array.isArray(body))
      throw invalid('Batches are not supported. Send one message per request.');
    await untilClientDisconnects(ctx, signal => answer(ctx, body, signal));
  };
}
