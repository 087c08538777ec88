// Authentication at /mcp before the body is read: rejects other origins and requires a bearer
// token for this endpoint.
import { ApiError } from '../../../common/contract/errors.ts';
import { orUnavailable } from '../../accounts/account-errors.ts';
import { bearerToken } from '../../http/caller.ts';
import type { Middleware } from '../../http/state.ts';
import type { AccessTokens, GrantedAccess } from '../oauth/access.ts';
import { challenge } from './protected-resource.ts';

declare module '../../http/state.ts' {
  interface State {
    /** Set by `authenticate`: the client, and the user and account that it acts for. */
    access?: GrantedAccess;
  }
}

interface Deps {
  publicUrl: string;
  /** The resource that tokens must be issued for. */
  resource: string;
  tokens: AccessTokens;
}

/** Browsers send `Origin`, also after DNS rebinding; other clients do not. */
const ownOrigin = (publicUrl: string): Middleware => {
  const { origin } = new URL(publicUrl);
  return (ctx, next) => {
    const given = ctx.get('Origin');
    if (given !== '' && given !== origin)
      throw new ApiError(
        'forbidden',
        'Requests from other origins are not allowed. Use an MCP client.',
      );
    return next();
  };
};

const bearer = ({ tokens, resource, publicUrl }: Deps): Middleware => {
  return async (ctx, next) => {
    const token = bearerToken(ctx.headers.authorization);
    const access =
      token &&
      (await tokens.verify(token, resource).catch(error => {
        throw orUnavailable(error);
      }));
    if (!access) throw challenge(publicUrl, token !== undefined);
    ctx.state.access = access;
    await next();
  };
};

/** Sets `state.access`. */
export const authenticate = (deps: Deps): Middleware[] => [ownOrigin(deps.publicUrl), bearer(deps)];

/** The endpoint is stateless: it has no session to end and no stream to open. */
export const postOnly: Middleware = () => {
  throw new ApiError('method_not_allowed', 'This endpoint supports POST only.', {
    headers: { Allow: 'POST' },
  });
};
