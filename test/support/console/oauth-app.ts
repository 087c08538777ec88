// A native app around an official MCP client: stores credentials, records the authorization URL and
// listens for the redirect. The client does discovery, registration, PKCE and refresh.
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type {
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from '@modelcontextprotocol/client';

const LIMIT_MS = 40_000;

export interface OAuthApp {
  /** Works with the client of either SDK version. */
  provider: OAuthClientProvider;
  /** The URL of the redirect listener. */
  redirectUrl: string;
  kept: {
    client?: StoredOAuthClientInformation;
    tokens?: StoredOAuthTokens;
    discovery?: OAuthDiscoveryState;
  };
  /** The authorization URLs, in order. */
  readonly sent: URL[];
  /** Waits for a redirect with the last state and returns its parameters. */
  answer(): Promise<URLSearchParams>;
  /** Revokes a token (RFC 7009) at the endpoint in the server metadata. Returns the status. */
  revoke(token: string): Promise<number>;
  stop(): Promise<void>;
}

const PAGE = '<!doctype html><title>App</title><h1>You may close this window</h1>';

/**
 * `documentUrl`: the URL of the client metadata document. `secretless`: registers as a public
 * client like a native app; false lets the server choose.
 */
export async function oauthApp(
  name: string,
  { documentUrl, secretless = true }: { documentUrl?: string; secretless?: boolean } = {},
): Promise<OAuthApp> {
  const arrived: URLSearchParams[] = [];
  let onRedirect = () => {};
  const listener = createServer((incoming, outgoing) => {
    const { pathname, searchParams } = new URL(incoming.url!, 'http://127.0.0.1');
    outgoing
      .writeHead(pathname === '/callback' ? 200 : 404, { 'content-type': 'text/html' })
      .end(PAGE);
    if (pathname !== '/callback') return;
    arrived.push(searchParams);
    onRedirect();
  });
  await new Promise<void>(resolve => listener.listen(0, '127.0.0.1', resolve));
  const redirectUrl = `http://127.0.0.1:${(listener.address() as AddressInfo).port}/callback`;

  const kept: OAuthApp['kept'] = {};
  const sent: URL[] = [];
  let verifier = '';
  let state = '';
  const forget = {
    all: ['client', 'tokens', 'discovery'],
    client: ['client'],
    tokens: ['tokens'],
    discovery: ['discovery'],
    verifier: [],
  } as const;

  const provider: OAuthClientProvider = {
    redirectUrl,
    ...(documentUrl !== undefined && { clientMetadataUrl: documentUrl }),
    clientMetadata: {
      client_name: name,
      redirect_uris: [redirectUrl],
      ...(secretless && { token_endpoint_auth_method: 'none' }),
    },
    state: () => {
      state = randomBytes(16).toString('base64url');
      return state;
    },
    clientInformation: () => kept.client,
    saveClientInformation: client => {
      kept.client = client;
    },
    tokens: () => kept.tokens,
    saveTokens: tokens => {
      kept.tokens = tokens;
    },
    discoveryState: () => kept.discovery,
    saveDiscoveryState: discovery => {
      kept.discovery = discovery;
    },
    codeVerifier: () => verifier,
    saveCodeVerifier: given => {
      verifier = given;
    },
    redirectToAuthorization: url => void sent.push(url),
    invalidateCredentials: scope => {
      for (const what of forget[scope]) delete kept[what];
    },
  };

  async function answer(): Promise<URLSearchParams> {
    const signal = AbortSignal.timeout(LIMIT_MS);
    while (arrived.length === 0)
      await new Promise<void>((resolve, reject) => {
        onRedirect = resolve;
        signal.addEventListener(
          'abort',
          () => reject(new Error('no redirect to the app arrived')),
          {
            once: true,
          },
        );
      });
    const params = arrived.shift()!;
    if (params.get('state') !== state) throw new Error(`the redirect has another state: ${params}`);
    return params;
  }

  return {
    provider,
    redirectUrl,
    kept,
    sent,
    answer,
    revoke: async token => {
      const { revocation_endpoint: endpoint } = kept.discovery!.authorizationServerMetadata as {
        revocation_endpoint: string;
      };
      const body = new URLSearchParams({ token, client_id: kept.client!.client_id });
      const response = await fetch(endpoint, {
        method: 'POST',
        body,
        signal: AbortSignal.timeout(LIMIT_MS),
      });
      await response.body?.cancel();
      return response.status;
    },
    stop: () => {
      const stopped = new Promise<void>(resolve => listener.close(() => resolve()));
      listener.closeAllConnections();
      return stopped;
    },
  };
}
