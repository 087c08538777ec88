// MCP clients of both lines of the official SDK, behind one small interface, connected over real HTTP with an access token.
import { Client as PresentClient, StreamableHTTPClientTransport as PresentTransport } from '@modelcontextprotocol/client';
import { Client as EarlierClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as EarlierTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

export interface ToolAnswer {
  isError?: boolean;
  content: { type: string; text?: string; uri?: string; resource?: { uri: string; blob: string; mimeType: string } }[];
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

/** Of the present revision (2026-07-28): no session, and a call is cancelled by hanging up. */
async function present(url: string, headers: Record<string, string>): Promise<McpClient> {
  const client = new PresentClient(named, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
  await client.connect(new PresentTransport(new URL(`${url}/mcp`), { requestInit: { headers } }));
  return {
    tools: async () => (await client.listTools()).tools as never,
    render: async (given, options) => (await client.callTool({ name: TOOL, arguments: given as never }, options as never)) as never,
    read: async uri => blobOf(await client.readResource({ uri })),
    close: () => client.close(),
  };
}

/** Of the revisions of 2025: `initialize` first, and a call is cancelled by a message. */
async function earlier(url: string, headers: Record<string, string>): Promise<McpClient> {
  const client = new EarlierClient(named);
  await client.connect(new EarlierTransport(new URL(`${url}/mcp`), { requestInit: { headers } }) as never);
  return {
    tools: async () => (await client.listTools()).tools as never,
    render: async (given, options) =>
      (await client.callTool({ name: TOOL, arguments: given as never }, undefined, options as never)) as never,
    read: async uri => blobOf(await client.readResource({ uri })),
    close: () => client.close(),
  };
}

const connect = { present, earlier };
export type Line = keyof typeof connect;
export const LINES = Object.keys(connect) as Line[];

export const mcpClient = (line: Line, url: string, token: string): Promise<McpClient> =>
  connect[line](url, { authorization: `Bearer ${token}` });

/** The words of an answer. */
export const textOf = ({ content }: ToolAnswer): string => content.flatMap(({ text }) => text ?? []).join('\n');
