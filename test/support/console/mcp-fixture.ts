// MCP clients of both lines of the official SDK, behind one small interface, connected over real
// HTTP with an access token or by their own OAuth.
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
  /** The base64 of a resource. */
  read(uri: string): Promise<string>;
  close(): Promise<void>;
}

const named = { name: 'a test', version: '1.0.0' };
const TOOL = 'render_pdf';
const blobOf = ({ contents }: { contents: unknown[] }) => (contents[0] as { blob: string }).blob;

/** How it shows who it is: what the transports of both lines take. */
interface Way {
  requestInit?: { headers: Record<string, string> };
  authProvider?: OAuthClientProvider;
}

interface Dialled {
  connect(): Promise<McpClient>;
  /** Redeems what came back to the app. */
  finishAuth(answer: URLSearchParams): Promise<void>;
}

/** Of the present revision (2026-07-28): no session, and a call is cancelled by hanging up. */
function present(
  url: string,
  way: Way,
  mode: VersionNegotiationMode = { pin: '2026-07-28' },
): Dialled {
  const client = new PresentClient(named, { versionNegotiation: { mode } });
  const transport = new PresentTransport(new URL(`${url}/mcp`), way);
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

/** Of the revisions of 2025: `initialize` first, and a call is cancelled by a message. */
function earlier(url: string, way: Way): Dialled {
  const client = new EarlierClient(named);
  const transport = new EarlierTransport(new URL(`${url}/mcp`), way as never);
  return {
    finishAuth: answer => transport.finishAuth(answer.get('code')!),
    connect: async () => {
      await client.connect(transport as never);
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

const dial = { present, earlier };
export type SdkVersion = keyof typeof dial;
export const SDK_VERSIONS = Object.keys(dial) as SdkVersion[];

export const mcpClient = (line: SdkVersion, url: string, token: string): Promise<McpClient> =>
  dial[line](url, { requestInit: { headers: { authorization: `Bearer ${token}` } } }).connect();

/** Call it inside `describe`: what it gives connects clients that are closed after the test. */
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

/** What clients throw who have sent their person to the server. */
export const isUnauthorized = (error: unknown): boolean =>
  error instanceof PresentUnauthorized || error instanceof EarlierUnauthorized;

/**
 * A client that gets its tokens itself. `ask` resolves with what came back to the app, once the
 * provider was told where to send the person; it is not called when there are tokens. The present
 * line finds out which revision the server speaks, as a program does that meets servers of every
 * age.
 */
export async function oauthClient(
  line: SdkVersion,
  url: string,
  provider: OAuthClientProvider,
  ask: () => Promise<URLSearchParams>,
) {
  const dialled = () =>
    line === 'present'
      ? present(url, { authProvider: provider }, 'auto')
      : earlier(url, { authProvider: provider });
  const first = dialled();
  try {
    return await first.connect();
  } catch (error) {
    if (!isUnauthorized(error)) throw error;
  }
  await first.finishAuth(await ask());
  // A transport is used once.
  return dialled().connect();
}

/** The words of an answer. */
export const textOf = ({ content }: ToolAnswer): string =>
  content.flatMap(({ text }) => text ?? []).join('\n');
