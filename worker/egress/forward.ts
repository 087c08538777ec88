// Plain http: a request in absolute form goes out over a connection of the guard's agent, and the
// answer comes back as a stream.
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

/** Cookies of many kilobytes are no reason to fail; Chrome itself takes heads of 256 KiB. */
export const MAX_HTTP_HEAD_BYTES = 256 * 1024;

const REPEATABLE = new Set(['GET', 'HEAD', 'OPTIONS']);

function requestHeaders(request: IncomingMessage, authority: string): [string, string][] {
  const rest = endToEnd(request.rawHeaders).filter(([name]) => name.toLowerCase() !== 'host');
  const chunked: [string, string][] =
    request.headers['transfer-encoding'] === undefined ? [] : [['Transfer-Encoding', 'chunked']];
  return [['Host', authority], ...rest, ...chunked];
}

/**
 * Serves one plain request. Whatever goes wrong before the answer's head destroys the socket
 * instead of answering: a page must not be able to show, print or read an error of ours as if it
 * were the site's. Requests in another form than absolute come from somebody who is not a browser
 * with a proxy.
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
      outgoing.destroy(); // a status or a field that node:http takes but does not send
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
    outgoing.on('timeout', () => outgoing.destroy());
    const onResponse = (incoming: IncomingMessage) => {
      answered = true;
      answer(outgoing, incoming);
    };
    outgoing.on('response', guard.edge(onResponse, drop));
    const onClose = () => {
      if (answered || request.socket.destroyed) return;
      // A kept connection may have been closed by the far end just now: that says nothing about the
      // site. Each try uses one up, so it ends.
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
