// How a client finds out who lets it in: the metadata of the protected resource (RFC 9728), and the
// refusal that points to it.
import { ApiError } from '../../../common/contract/errors.ts';
import type { Middleware, Route } from '../../http/state.ts';
import { SCOPE } from '../oauth/access.ts';

export const MCP_PATH = '/mcp';
const ROOT = '/.well-known/oauth-protected-resource';

/** What tokens must be for: the address of the endpoint, written as URLs are. */
export const mcpResource = (publicUrl: string): string => new URL(publicUrl + MCP_PATH).href;

/** RFC 6750 §3: the error is named only when there was a token. */
export function challenge(publicUrl: string, given: boolean): ApiError {
  const parts = [
    ...(given
      ? ['error="invalid_token"', 'error_description="The access token is not valid any more"']
      : []),
    `resource_metadata="${publicUrl}${ROOT}${MCP_PATH}"`,
    `scope="${SCOPE}"`,
  ];
  return new ApiError('unauthorized', 'The access token is missing or not valid. Connect again.', {
    headers: { 'WWW-Authenticate': `Bearer ${parts.join(', ')}` },
  });
}

/** At the path form and at the root: clients ask for the one or the other. */
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
    // As the metadata of the OAuth server, to which it points.
    ctx.set('Access-Control-Allow-Origin', '*');
    ctx.body = metadata;
  };
  return [ROOT + MCP_PATH, ROOT].map(path => ({ method: 'get', path, handle: [handle] }));
}
