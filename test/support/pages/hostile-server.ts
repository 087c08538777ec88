// The server of the hostile pages on every loopback address. Serves the pages, files of the report
// and endless or oversized responses; counts requests and WebSocket messages.
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { crc32, deflateSync, gzipSync } from 'node:zlib';
import { WebSocketServer } from 'ws';
import { reportFiles } from '../../../bench/report-document.ts';
import type { HostilePage } from './hostile-page.ts';

export interface HostileServer {
  /** `http://127.0.0.1:port`. */
  readonly base: string;
  /** The entry for PRESSROOM_EGRESS_ALLOW. */
  readonly allow: string;
  requests(): number;
  close(): Promise<void>;
}

const MIB = 2 ** 20;
const PIECE = Buffer.alloc(64 * 1024, '/* x */ ');
const GZIP_BOMB_MIB = 256;
const PICTURE_PIXELS = 12_000;
const BURN = 'for (;;);';
/** Allocates up to 1.6 GB, starting half a second after the message to its parent. */
const FILL = `parent.postMessage(1, '*'); const all = [];
setTimeout(() => setInterval(() => all.length < 400 && all.push(new Uint8Array(4 << 20).fill(1)), 1), 500)`;

function chunk(type: string, data: Buffer): Buffer {
  const inside = Buffer.concat([Buffer.from(type), data]);
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  check.writeUInt32BE(crc32(inside));
  return Buffer.concat([length, inside, check]);
}

/** A PNG of a few kilobytes that needs 576 MB when decoded. */
function pictureBomb(): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(PICTURE_PIXELS, 0);
  header.writeUInt32BE(PICTURE_PIXELS, 4);
  header[8] = 1; // one bit per pixel, greyscale
  const rows = Buffer.alloc((PICTURE_PIXELS / 8 + 1) * PICTURE_PIXELS);
  const signature = Buffer.from('89504e470d0a1a0a', 'hex');
  const data = deflateSync(rows, { level: 1 });
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('IDAT', data),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/** Sends data as fast as possible until the connection closes. */
function pour(response: ServerResponse): void {
  const more = () => {
    while (!response.destroyed && response.write(PIECE)) {}
  };
  response.on('drain', more);
  more();
}

export async function startHostileServer(pages: readonly HostilePage[]): Promise<HostileServer> {
  let requests = 0;
  let base = '';
  const bomb = gzipSync(Buffer.alloc(GZIP_BOMB_MIB * MIB, ' '), { level: 1 });
  const picture = pictureBomb();
  const files = reportFiles();
  const byPath = new Map(pages.map(page => [page.path, page]));

  const send = (response: ServerResponse, type: string, body: string | Buffer, headers = {}) => {
    const common = { 'content-type': type, 'access-control-allow-origin': '*' };
    response.writeHead(200, { ...common, ...headers }).end(body);
  };
  const answers: Record<string, (response: ServerResponse) => void> = {
    '/small': response => send(response, 'text/plain', 'x'),
    '/stream': response =>
      pour(response.writeHead(200, { 'content-type': 'application/octet-stream' })),
    '/stream.js': response => pour(response.writeHead(200, { 'content-type': 'text/javascript' })),
    '/bomb.css': response => send(response, 'text/css', bomb, { 'content-encoding': 'gzip' }),
    '/bomb.js': response => send(response, 'text/javascript', bomb, { 'content-encoding': 'gzip' }),
    '/bomb.png': response => send(response, 'image/png', picture),
    '/burn': response => send(response, 'text/html', `<p>x</p><script>${BURN}</script>`),
    '/fill': response => send(response, 'text/html', `<p>x</p><script>${FILL}</script>`),
    '/burn.js': response =>
      send(response, 'text/javascript', BURN, { 'service-worker-allowed': '/' }),
    '/download': response =>
      send(response, 'application/octet-stream', PIECE, { 'content-disposition': 'attachment' }),
  };

  const server = createServer((request, response) => {
    requests += 1;
    const path = request.url!.split('?')[0]!;
    const page = byPath.get(path);
    const file = files.get(path.slice('/report/'.length));
    // A navigation between pages with and without this header changes the process.
    const own = request.url!.includes('?coop')
      ? { 'cross-origin-opener-policy': 'same-origin' }
      : {};
    if (page) send(response, 'text/html; charset=utf-8', page.html(base), own);
    else if (file) send(response, file.type, file.bytes, { 'cache-control': 'max-age=60' });
    else if (answers[path]) answers[path](response);
    else response.writeHead(404).end();
  });
  const sockets = new WebSocketServer({ server, path: '/echo' });
  sockets.on('connection', socket => {
    requests += 1;
    socket.on('error', () => socket.terminate());
    socket.on('message', (data, isBinary) => {
      requests += 1;
      socket.send(data, { binary: isBinary });
    });
  });
  await new Promise<void>(resolve => server.listen(0, '0.0.0.0', resolve));
  const { port } = server.address() as AddressInfo;
  base = `http://127.0.0.1:${port}`;
  return {
    base,
    allow: `127.0.0.0/8:${port}`,
    requests: () => requests,
    close: () => {
      for (const socket of sockets.clients) socket.terminate();
      server.closeAllConnections();
      return new Promise(resolve => server.close(() => resolve()));
    },
  };
}
