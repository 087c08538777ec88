// Single messages to /mcp over real HTTP, as clients of either era send them, and the message in
// the answer, whether it came as JSON or in a stream.
import { type Answer, type Call, httpCall } from '../http-call.ts';

export const PRESENT = '2026-07-28';

export interface Message {
  /** A text is sent as it is. */
  body: object | string;
  headers?: Record<string, string>;
}

export const notification = (method: string, params?: unknown): Message => ({
  body: { jsonrpc: '2.0', method, ...(params !== undefined && { params }) },
});

/** Of the revisions of 2025. */
export const earlierMessage = (method: string, params?: unknown, id: unknown = 1): Message => ({
  body: { id, ...(notification(method, params).body as object) },
});

/**
 * Of the present revision: everything that was said at `initialize` before goes with each message,
 * and what it is about stands in headers.
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

/** Of a message of either era. */
export const mcpHeaders = (token: string) => ({
  authorization: `Bearer ${token}`,
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
});

/** `headers` win. */
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

/** The last message of the answer. */
export function replyOf({ headers, body }: Answer): Reply {
  const text = body.toString();
  if (!headers['content-type']?.startsWith('text/event-stream')) return JSON.parse(text) as Reply;
  const data = text.split('\n').filter(line => line.startsWith('data: '));
  return JSON.parse(data.at(-1)!.slice('data: '.length)) as Reply;
}
