// POST /mcp: Streamable HTTP of the Model Context Protocol, in its present revision and those of 2025. Owns who gets in; what is said then is the SDK's.
import { randomUUID } from 'node:crypto';
import { ApiError, invalid } from '../../contract/errors.ts';
import { bearerToken } from '../../http/bearer.ts';
import { whileCallerWaits } from '../../http/hang-up.ts';
import { ClientClosed, type Context, type Middleware } from '../../http/state.ts';
import { isDatabaseUnavailable } from '../../store/store.ts';
import type { AccountShares } from '../documents/account-shares.ts';
import type { Access, AccessTokens } from '../oauth/access.ts';
import { createCancellations } from './cancellations.ts';
import { headersOf, message, write } from './exchange.ts';
import { challenge } from './protected-resource.ts';
import { createServer, type Sdk, type ServerDeps } from './server.ts';

export const MCP_PATH = '/mcp';

/** A page of another site, also one whose name has come to lead to this address (DNS rebinding), says so itself. What is no browser says nothing. */
export const ownOrigin = (publicUrl: string): Middleware => {
  const { origin } = new URL(publicUrl);
  return (ctx, next) => {
    const given = ctx.get('Origin');
    if (given !== '' && given !== origin) throw new ApiError('forbidden', 'Pages of other sites may not call this. Use an MCP client.');
    return next();
  };
};

/** There is no session to end, and no stream that would say anything. */
export const postsAlone: Middleware = () => {
  throw new ApiError('method_not_allowed', 'This path takes POST only.', { headers: { Allow: 'POST' } });
};

const away = (cause: unknown) =>
  new ApiError('unavailable', 'The service cannot reach its database at the moment. Try again.', { cause, retryAfterS: 1 });

/** Nothing of the body has been read when this refuses. */
export const mcpBearer = (
  { tokens, resource, publicUrl }: { tokens: AccessTokens; resource: string; publicUrl: string },
  onAccess: (ctx: Context, access: Access) => void,
): Middleware => {
  return async (ctx, next) => {
    const token = bearerToken(ctx.headers.authorization);
    const access =
      token &&
      (await tokens.verify(token, resource).catch(cause => {
        throw isDatabaseUnavailable(cause) ? away(cause) : cause;
      }));
    if (!access) throw challenge(publicUrl, token !== undefined);
    onAccess(ctx, access);
    await next();
  };
};

export function endpoint(deps: ServerDeps & { shares: AccountShares }): {
  accept: (ctx: Context, access: Access) => void;
  serve: Middleware;
} {
  const { publicUrl, store, shares, log } = deps;
  const accesses = new WeakMap<Context, Access>();
  const cancellations = createCancellations(store, log, () => new ClientClosed());
  let sdk: Promise<Sdk> | undefined;

  async function answer(ctx: Context, body: unknown, access: Access, signal: AbortSignal): Promise<void> {
    sdk ??= import('@modelcontextprotocol/server');
    const { state } = ctx;
    const { requestId, bodyBytes, reservation } = state;
    const loaded = await sdk;
    const { method, id, params } = message(body);
    const session = ctx.get('Mcp-Session-Id') || undefined;
    if (method === 'notifications/cancelled') await cancellations.cancel(access.grantId, session, message(params).requestId);
    // Only names the client's calls, so that it can cancel them: nothing is kept of it, and every process takes every one.
    if (method === 'initialize') ctx.set('Mcp-Session-Id', randomUUID());
    const isCall = method === 'tools/call';
    const cancellable = cancellations.begin(access.grantId, isCall ? session : undefined, id);
    const call = {
      access,
      requestId,
      bodyBytes,
      reservation,
      takeForAnswer: (bytes: number) => shares.take(ctx, access.account, bytes),
      signal: AbortSignal.any([signal, cancellable.signal]),
      failed: (error: ApiError | ClientClosed) => {
        if (error instanceof ClientClosed) state.code = 'client_closed';
        else Object.assign(state, { code: error.code, ...(error.reason && { reason: error.reason }) });
      },
    };
    const handler = loaded.createMcpHandler(() => createServer(loaded, deps, call), {
      // Nothing here ever changes, and who waits for it would hold a connection for ever.
      maxSubscriptions: 0,
      // A stream says something every 15 s, and no proxy takes the connection for a dead one while a render waits.
      ...(isCall && { responseMode: 'sse' }),
      onerror: error => log.debug({ requestId, reason: error.name }, 'an MCP message was refused'),
    });
    try {
      const request = new Request(publicUrl + MCP_PATH, { method: 'POST', headers: headersOf(ctx), signal });
      await write(ctx, await handler.fetch(request, { parsedBody: body }));
    } catch (error) {
      // Once Koa is told to leave the answer to us, a connection that breaks is all that can tell of it.
      if (ctx.respond !== false) throw error;
      ctx.res.destroy();
      throw new ClientClosed();
    } finally {
      cancellable.end();
    }
  }

  return {
    accept: (ctx, access) => {
      accesses.set(ctx, access);
      ctx.state.clientAccountId = access.account;
    },
    serve: async ctx => {
      const { body } = ctx.state;
      ctx.state.body = undefined;
      // The protocol has none since 2025; a thousand renders in one call would be no call.
      if (Array.isArray(body)) throw invalid('Send one message in a call: batches are not supported.');
      await whileCallerWaits(ctx, signal => answer(ctx, body, accesses.get(ctx)!, signal));
    },
  };
}
