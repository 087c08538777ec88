// POST /mcp: Streamable HTTP of the Model Context Protocol, in its present revision and those of
// 2025. Owns how a message gets to the SDK; what is said then is the SDK's.
import { randomUUID } from 'node:crypto';
import { invalid } from '../../../common/contract/errors.ts';
import { ClientClosed, untilClientDisconnects } from '../../http/client-disconnect.ts';
import type { Context, Middleware } from '../../http/state.ts';
import type { AccountShares } from '../downloads/account-shares.ts';
import { createCancellations } from './cancellations.ts';
import { headersOf, message, write } from './exchange.ts';
import { MCP_PATH } from './protected-resource.ts';
import type { McpCall } from './render-pdf.ts';
import { createServer, type Sdk, type ServerDeps } from './server.ts';

/** Needs who calls, and the parsed body, in the state. */
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
      takeForAnswer: bytes => shares.take(ctx, access.account, bytes),
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
    // Only names the client's calls, so that it can cancel them: nothing is kept of it, and every
    // process takes every one.
    if (method === 'initialize') ctx.set('Mcp-Session-Id', randomUUID());
    const isCall = method === 'tools/call';
    const cancellable = cancellations.begin(grantId, isCall ? session : undefined, id);
    const call = callOf(ctx, AbortSignal.any([signal, cancellable.signal]));
    const handler = loaded.createMcpHandler(() => createServer(loaded, deps, call), {
      // Nothing here ever changes, and who waits for it would hold a connection for ever.
      maxSubscriptions: 0,
      // A stream says something every 15 s, and no proxy takes the connection for a dead one while
      // a render waits.
      ...(isCall && { responseMode: 'sse' }),
      onerror: error => log.debug({ requestId, reason: error.name }, 'an MCP message was refused'),
    });
    try {
      const request = new Request(publicUrl + MCP_PATH, {
        method: 'POST',
        headers: headersOf(ctx),
        signal,
      });
      await write(ctx, await handler.fetch(request, { parsedBody: body }));
    } catch (error) {
      // After `ctx.respond = false` only a broken connection can report a failure.
      throw ctx.respond === false ? new ClientClosed() : error;
    } finally {
      cancellable.end();
    }
  }

  return async ctx => {
    const { body } = ctx.state;
    ctx.state.body = undefined;
    // The protocol has none since 2025; a thousand renders in one call would be no call.
    if (Array.isArray(body))
      throw invalid('Send one message in a call: batches are not supported.');
    await untilClientDisconnects(ctx, signal => answer(ctx, body, signal));
  };
}
