// Single messages to /mcp over HTTP in the current and the 2025 revisions of MCP, and the message
// in a JSON or stream response.
import { type Answer, type Call, httpCall } from '../http-call.ts';

export const PRESENT = '2026-07-28';

export interface Message {
  /** A string is sent unchanged. */
  body: object | string;
  headers?: Record<string, string>;
}

export const notification = (method: string, params?: unknown): Message => ({
  body: { jsonrpc: '2.0', method, ...(params !== undefined && { params }) },
});

/** A request of the 2025 revisions. */
export const earlierMessage = (method: string, params?: unknown, id: unknown = 1): Message => ({
  body: { id, ...(notification(method, params).body as object) },
});

/**
 * A request of the current revision: each message carries the data of the former `initialize`, and
 * headers repeat the method and name.
 */
export function presentMessage(
  method: string,
  params: Record<string, unknown> = {},
  version = PRESENT,
): Message {
  const _meta = {
    ...(params['_meta'] as object | undefined),
    'io.modelcontextprotocol/protocolVersion': version,
    'io.modelcontextprotocol/clientInfo': { name: 'a test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const about = params['name'] ?? params['uri'];
  return {
    body: { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } },
    headers: {
      'mcp-protocol-version': version,
      'mcp-method': method,
      ...(about !== undefined && { 'mcp-name': String(about) }),
    },
  };
}

/** The headers of a message in either revision. */
export const mcpHeaders = (token: string) => ({
  authorization: `Bearer ${token}`,
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
});

/** `headers` override the defaults. */
export function mcpCall(
  fixture: { api: { port(): number } },
  token: string,
  message: Message,
  headers: Record<string, string> = {},
): Call {
  const body = typeof message.body === 'string' ? message.body : JSON.stringify(message.body);
  return httpCall(
    fixture.api.port(),
    'POST',
    '/mcp',
    {
      ...mcpHeaders(token),
      'content-length': String(Buffer.byteLength(body)),
      ...message.headers,
      ...headers,
    },
    body,
  );
}

export interface Reply {
  result?: { content: { text: string }[]; isError?: boolean } & Record<string, unknown>;
  error?: { code: number; message: string; data?: unknown };
}

/** The last message of the response. */
export function replyOf({ headers, body }: Answer): Reply {
  const text = body.toString();
  if (!headers['content-type']?.startsWith('text/event-stream')) return JSON.parse(text) as Reply;
  const data = text.split('\n').filter(line => line.startsWith('data: '));
  return JSON.parse(data.at(-1)!.slice('data: '.length)) as Reply;
}
