// MCP clients of both versions of the official SDK behind one interface. They connect over HTTP
// with an access token or with their own OAuth flow.
import {
  type OAuthClientProvider,
  Client as PresentClient,
  StreamableHTTPClientTransport as PresentTransport,
  UnauthorizedError as PresentUnauthorized,
  type VersionNegotiationMode,
} from '@modelcontextprotocol/client';
import { UnauthorizedError as EarlierUnauthorized } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client as EarlierClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as EarlierTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

export interface ToolAnswer {
  isError?: boolean;
  content: {
    type: string;
    text?: string;
    uri?: string;
    resource?: { uri: string; blob: string; mimeType: string };
  }[];
  structuredContent?: {
    url: string;
    expires_at: string;
    bytes: number;
    pages: number;
    sha256: string;
    filename: string;
    render_id: string;
  };
}

export interface ToolShown {
  name: string;
  description: string;
  inputSchema: { properties: Record<string, unknown> } & Record<string, unknown>;
  outputSchema: { required: string[] };
  annotations: Record<string, unknown>;
}

interface CallOptions {
  signal?: AbortSignal;
  onprogress?: (progress: { progress: number; message?: string }) => void;
}

export interface McpClient {
  tools(): Promise<ToolShown[]>;
  render(given: unknown, options?: CallOptions): Promise<ToolAnswer>;
  /** Returns a resource in base64. */
  read(uri: string): Promise<string>;
  close(): Promise<void>;
}

const named = { name: 'a test', version: '1.0.0' };
const TOOL = 'render_pdf';
const blobOf = ({ contents }: { contents: unknown[] }) => (contents[0] as { blob: string }).blob;

/** Authentication options that the transports of both versions accept. */
interface AuthOptions {
  requestInit?: { headers: Record<string, string> };
  authProvider?: OAuthClientProvider;
}

interface Connector {
  connect(): Promise<McpClient>;
  /** Redeems the authorization response. */
  finishAuth(answer: URLSearchParams): Promise<void>;
}

/** The current revision (2026-07-28): no session; a disconnect cancels a call. */
function present(
  url: string,
  auth: AuthOptions,
  mode: VersionNegotiationMode = { pin: '2026-07-28' },
): Connector {
  const client = new PresentClient(named, { versionNegotiation: { mode } });
  const transport = new PresentTransport(new URL(`${url}/mcp`), auth);
  return {
    finishAuth: answer => transport.finishAuth(answer),
    connect: async () => {
      await client.connect(transport);
      return {
        tools: async () => (await client.listTools()).tools as never,
        render: async (given, options) =>
          (await client.callTool(
            { name: TOOL, arguments: given as never },
            options as never,
          )) as never,
        read: async uri => blobOf(await client.readResource({ uri })),
        close: () => client.close(),
      };
    },
  };
}

/** The 2025 revisions: `initialize` first; a message cancels a call. */
function earlier(url: string, auth: AuthOptions): Connector {
  const client = new EarlierClient(named);
  // The notification stream, the only GET to /mcp, opens in the background. A stream that opens
  // after a test has changed the tokens starts an authorization of its own.
  const stream = Promise.withResolvers<void>();
  const transport = new EarlierTransport(new URL(`${url}/mcp`), {
    ...(auth as object),
    fetch: async (target, init) => {
      const response = await fetch(target, init);
      if (init?.method === 'GET' && new URL(target).pathname === '/mcp') stream.resolve();
      return response;
    },
  });
  return {
    finishAuth: answer => transport.finishAuth(answer.get('code')!),
    connect: async () => {
      await client.connect(transport as never);
      await stream.promise;
      return {
        tools: async () => (await client.listTools()).tools as never,
        render: async (given, options) =>
          (await client.callTool(
            { name: TOOL, arguments: given as never },
            undefined,
            options as never,
          )) as never,
        read: async uri => blobOf(await client.readResource({ uri })),
        close: () => client.close(),
      };
    },
  };
}

const CONNECTORS = { present, earlier };
export type SdkVersion = keyof typeof CONNECTORS;
export const SDK_VERSIONS = Object.keys(CONNECTORS) as SdkVersion[];

export const mcpClient = (line: SdkVersion, url: string, token: string): Promise<McpClient> =>
  CONNECTORS[line](url, {
    requestInit: { headers: { authorization: `Bearer ${token}` } },
  }).connect();

/** Call inside `describe`. Returns a function whose clients are closed after each test. */
export function mcpClients(): typeof mcpClient {
  const open: McpClient[] = [];
  afterEach(async () => {
    for (const client of open.splice(0)) await client.close();
  });
  return async (...given) => {
    const client = await mcpClient(...given);
    open.push(client);
    return client;
  };
}

/** Whether a client threw because it needs authorization. */
export const isUnauthorized = (error: unknown): boolean =>
  error instanceof PresentUnauthorized || error instanceof EarlierUnauthorized;

/**
 * A client that obtains its tokens itself. `ask` resolves with the authorization response and is
 * not called when tokens exist. The current SDK negotiates the revision with the server.
 */
export async function oauthClient(
  line: SdkVersion,
  url: string,
  provider: OAuthClientProvider,
  ask: () => Promise<URLSearchParams>,
) {
  const newConnector = () =>
    line === 'present'
      ? present(url, { authProvider: provider }, 'auto')
      : earlier(url, { authProvider: provider });
  const first = newConnector();
  try {
    return await first.connect();
  } catch (error) {
    if (!isUnauthorized(error)) throw error;
  }
  await first.finishAuth(await ask());
  // A transport cannot be reused.
  return newConnector().connect();
}

/** The text of a tool result. */
export const textOf = ({ content }: ToolAnswer): string =>
  content.flatMap(({ text }) => text ?? []).join('\n');
