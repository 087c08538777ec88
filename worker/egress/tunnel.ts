// CONNECT: https, WebSockets and whatever else a page speaks through a tunnel. Bytes are carried
// and counted, never read.
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { Denied } from './decide.ts';
import type { Guard } from './guard.ts';
import { parseAuthority, type Target } from './target.ts';

/** Refusals have no body: Chrome shows none for a tunnel, and a page could read nothing from it. */
function refuse(client: Socket, status: string): void {
  client.end(`HTTP/1.1 ${status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`);
  client.destroySoon();
}

function join(guard: Guard, target: Target, client: Socket, upstream: Socket): void {
  for (const [from, to] of [
    [client, upstream],
    [upstream, client],
  ] as const) {
    // Before pipe's own listener, so that the chunk which breaks the limit goes no further.
    const onData = (chunk: Buffer) => guard.spend(chunk.length, target);
    from.on(
      'data',
      guard.edge(onData, () => from.destroy()),
    );
    from.pipe(to);
    // What came before the end is still delivered; a far end that takes nothing is cut by the idle
    // limit.
    from.once('close', () => to.destroySoon());
    from.setTimeout(guard.idleMs, () => from.destroy());
  }
}

/**
 * Serves one CONNECT: 200 and the tunnel, 400 for a broken authority, 403 when refused, 502 when
 * the far end is not to be had.
 */
export async function tunnel(
  guard: Guard,
  request: IncomingMessage,
  client: Socket,
  head: Buffer,
): Promise<void> {
  client.on('error', () => {}); // `close` follows, and all that there is to do is done there
  const target = parseAuthority(request.url ?? '');
  if (!target) return refuse(client, '400 Bad Request');
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
    refuse(client, error instanceof Denied ? '403 Forbidden' : '502 Bad Gateway');
  }
}
