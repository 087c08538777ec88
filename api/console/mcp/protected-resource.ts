// How a client finds the authorization server: the metadata of the protected resource (RFC 9728),
// and the 401 that points to it.
import { ApiError } from '../../../common/contract/errors.ts';
import type { Middleware, Route } from '../../http/state.ts';
import { SCOPE } from '../oauth/access.ts';

export const MCP_PATH = '/mcp';
const ROOT = '/.well-known/oauth-protected-resource';

/** The audience that tokens must have: the normalized URL of the endpoint. */
export const mcpResource = (publicUrl: string): string => new URL(publicUrl + MCP_PATH).href;

/** The 401. RFC 6750 §3: it names the error only when a token was sent. */
export function challenge(publicUrl: string, given: boolean): ApiError {
  const parts = [
    ...(given
      ? ['error="invalid_token"', 'error_description="The access token is invalid or expired"']
      : []),
    `resource_metadata="${publicUrl}${ROOT}${MCP_PATH}"`,
    `scope="${SCOPE}"`,
  ];
  return new ApiError(
    'unauthorized',
    'The access token is missing, invalid or expired. Reconnect the app.',
    {
      headers: { 'WWW-Authenticate': `Bearer ${parts.join(', ')}` },
    },
  );
}

/** At the path form and at the root, since clients request one or the other. */
export function protectedResource(publicUrl: string, resource: string): Route[] {
  const metadata = JSON.stringify({
    resource,
    authorization_servers: [publicUrl],
    scopes_supported: [SCOPE],
    bearer_methods_supported: ['header'],
    resource_name: 'Pressroom',
    resource_documentation: `${publicUrl}/docs`,
  });
  const handle: Middleware = ctx => {
    ctx.type = 'application/json';
    ctx.set('Cache-Control', 'public, max-age=300');
    // Like the metadata of the OAuth server, to which it points.
    ctx.set('Access-Control-Allow-Origin', '*');
    ctx.body = metadata;
  };
  return [ROOT + MCP_PATH, ROOT].map(path => ({ method: 'get', path, handle: [handle] }));
}
