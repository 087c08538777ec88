// Single messages to /mcp over real HTTP, as clients of either era send them, and the message in the answer, whether it came as JSON or in a stream.
import { type Answer, type Call, httpCall } from './http-call.ts';

export const PRESENT = '2026-07-28';

export interface Message {
  body: object;
  headers: Record<string, string>;
}

/** Of the revisions of 2025. `id: undefined` makes a notification. */
export const earlierMessage = (method: string, params?: unknown, id: unknown = 1): Message => ({
  body: { jsonrpc: '2.0', ...(id !== undefined && { id }), method, ...(params !== undefined && { params }) },
  headers: {},
});

export const notification = (method: string, params?: unknown): Message => ({
  body: { jsonrpc: '2.0', method, ...(params !== undefined && { params }) },
  headers: {},
});

/** Of the present revision: everything that was said at `initialize` before goes with each message, and what it is about stands in headers. */
export function presentMessage(method: string, params: Record<string, unknown> = {}, version = PRESENT): Message {
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

/** `headers` win. */
export function mcpCall(rig: { api: { port(): number } }, token: string, message: Message, headers: Record<string, string> = {}): Call {
  const body = JSON.stringify(message.body);
  return httpCall(
    rig.api.port(),
    'POST',
    '/mcp',
    {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
      accept: 'application/json, text/event-stream',
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
