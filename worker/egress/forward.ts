// Plain HTTP: forwards a request in absolute form over a connection of the guard's agent and
// streams the response back.
import {
  type ClientRequest,
  type IncomingMessage,
  request as openRequest,
  type ServerResponse,
} from 'node:http';
import { pipeline } from 'node:stream';
import type { Guard } from './guard.ts';
import { endToEnd, headBytes } from './headers.ts';
import { parseAbsoluteForm } from './target.ts';

/** Chrome's own limit, which leaves space for cookies of many kilobytes. */
export const MAX_HTTP_HEAD_BYTES = 256 * 1024;

const REPEATABLE = new Set(['GET', 'HEAD', 'OPTIONS']);

function requestHeaders(request: IncomingMessage, authority: string): [string, string][] {
  const rest = endToEnd(request.rawHeaders).filter(([name]) => name.toLowerCase() !== 'host');
  const chunked: [string, string][] =
    request.headers['transfer-encoding'] === undefined ? [] : [['Transfer-Encoding', 'chunked']];
  return [['Host', authority], ...rest, ...chunked];
}

/**
 * Serves one plain request. An error before the response head destroys the socket: an error page of
 * the proxy could be mistaken for a response of the site. Requests that are not in absolute form do
 * not come from a browser and are dropped.
 */
export function forward(guard: Guard, request: IncomingMessage, response: ServerResponse): void {
  const drop = () => void request.socket.destroy();
  request.on('error', drop);
  response.on('error', drop);
  const goal = parseAbsoluteForm(request.url ?? '');
  if (!goal) return drop();
  const { target, authority, path } = goal;
  const method = request.method ?? 'GET';
  const hasBody =
    request.headers['transfer-encoding'] !== undefined ||
    Number(request.headers['content-length'] ?? 0) > 0;
  const spend = (bytes: number) => guard.spend(bytes, target);
  const onData = guard.edge((chunk: Buffer) => spend(chunk.length), drop);

  const answer = (outgoing: ClientRequest, incoming: IncomingMessage) => {
    if (!spend(headBytes(incoming.rawHeaders))) return;
    try {
      response.sendDate = false;
      response.writeHead(
        incoming.statusCode!,
        incoming.statusMessage,
        endToEnd(incoming.rawHeaders).flat(),
      );
    } catch {
      outgoing.destroy(); // node:http parses some statuses and fields that it cannot send
      return drop();
    }
    incoming.on('data', onData);
    pipeline(incoming, response, error => error && drop());
  };

  const attempt = () => {
    let answered = false;
    const headers = requestHeaders(request, authority).flat();
    const outgoing = openRequest({
      agent: guard.agent(),
      ...target,
      method,
      path,
      headers,
      timeout: guard.idleMs,
      maxHeaderSize: MAX_HTTP_HEAD_BYTES,
    });
    outgoing.on('error', () => {}); // `close` follows
    const onTimeout = () => {
      if (!answered) guard.timedOut(target);
      outgoing.destroy();
    };
    outgoing.on('timeout', guard.edge(onTimeout, drop));
    const onResponse = (incoming: IncomingMessage) => {
      answered = true;
      answer(outgoing, incoming);
    };
    outgoing.on('response', guard.edge(onResponse, drop));
    const onClose = () => {
      if (answered || request.socket.destroyed) return;
      // A kept-alive connection may just have been closed by the server, so try another one. Each
      // attempt uses one up, so this ends.
      if (outgoing.reusedSocket && REPEATABLE.has(method) && !hasBody) attempt();
      else drop();
    };
    outgoing.on('close', guard.edge(onClose, drop));
    response.once('close', () => {
      if (!response.writableFinished) outgoing.destroy();
    });
    if (hasBody) {
      request.on('data', onData);
      request.pipe(outgoing);
    } else outgoing.end();
  };

  try {
    response.once('close', guard.begin(target));
    if (spend(headBytes(request.rawHeaders))) attempt();
  } catch {
    drop();
  }
}
