// CONNECT tunnels for HTTPS, WebSockets and other protocols. Bytes are forwarded and counted, never
// inspected.
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { Denied } from './address-rule.ts';
import type { Guard } from './guard.ts';
import { parseAuthority, type Target } from './target.ts';

/** Error responses have no body: Chrome does not show one for a tunnel. */
function reject(client: Socket, status: string): void {
  client.end(`HTTP/1.1 ${status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`);
  client.destroySoon();
}

function join(guard: Guard, target: Target, client: Socket, upstream: Socket): void {
  for (const [from, to] of [
    [client, upstream],
    [upstream, client],
  ] as const) {
    // Added before pipe's own listener, so that the chunk that exceeds the limit is not forwarded.
    const onData = (chunk: Buffer) => guard.spend(chunk.length, target);
    from.on(
      'data',
      guard.edge(onData, () => from.destroy()),
    );
    from.pipe(to);
    // Delivers the data that arrived before the end. The idle limit ends a peer that reads nothing.
    from.once('close', () => to.destroySoon());
    from.setTimeout(guard.idleMs, () => from.destroy());
  }
}

/**
 * Serves one CONNECT: 200 and the tunnel, 400 for a malformed authority, 403 when blocked, 502 when
 * the target cannot be reached.
 */
export async function tunnel(
  guard: Guard,
  request: IncomingMessage,
  client: Socket,
  head: Buffer,
): Promise<void> {
  client.on('error', () => {}); // handled by `close`, which follows
  const target = parseAuthority(request.url ?? '');
  if (!target) return reject(client, '400 Bad Request');
  const gone = new AbortController();
  client.once('end', () => gone.abort());
  client.once('close', () => gone.abort());
  try {
    client.once('close', guard.begin(target));
    const upstream = await guard.reach(target, gone.signal);
    if (gone.signal.aborted) {
      upstream.destroy();
      client.destroy();
      return;
    }
    client.write('HTTP/1.1 200 Connection established\r\n\r\n');
    if (head.length > 0) client.unshift(head);
    join(guard, target, client, upstream);
  } catch (error) {
    reject(client, error instanceof Denied ? '403 Forbidden' : '502 Bad Gateway');
  }
}
