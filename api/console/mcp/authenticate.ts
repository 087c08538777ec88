// Who gets in at /mcp, before anything of a message is read: no page of another site, and whoever has a token for this endpoint.

import { ApiError } from '../../../common/contract/errors.ts';
import { orUnavailable } from '../../accounts/account-errors.ts';
import { bearerToken } from '../../http/bearer.ts';
import type { Middleware } from '../../http/state.ts';
import type { Access, AccessTokens } from '../oauth/access.ts';
import { challenge } from './protected-resource.ts';

declare module '../../http/state.ts' {
  interface State {
    /** Set here: which client acts in whose name. */
    access?: Access;
  }
}

interface Deps {
  publicUrl: string;
  /** What tokens must be for. */
  resource: string;
  tokens: AccessTokens;
}

/** A page of another site, also one whose name has come to lead to this address (DNS rebinding), says so itself. What is no browser says nothing. */
const ownOrigin = (publicUrl: string): Middleware => {
  const { origin } = new URL(publicUrl);
  return (ctx, next) => {
    const given = ctx.get('Origin');
    if (given !== '' && given !== origin) throw new ApiError('forbidden', 'Pages of other sites may not call this. Use an MCP client.');
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

/** Puts who calls into the state. */
export const door = (deps: Deps): Middleware[] => [ownOrigin(deps.publicUrl), bearer(deps)];

/** There is no session to end, and no stream that would say anything. */
export const postsAlone: Middleware = () => {
  throw new ApiError('method_not_allowed', 'This path takes POST only.', { headers: { Allow: 'POST' } });
};
