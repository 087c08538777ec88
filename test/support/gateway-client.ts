// Clients of the gateway that an API process would never be: raw sockets and hand-written frames.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import WebSocket from 'ws';
import type { Ticket } from '../../common/ticket.ts';
import type { TestWorker } from './worker.ts';

export interface RawSocket {
  socket: Socket;
  /** The text received so far. */
  text(): string;
  /** Resolves when the worker ends its half or closes the connection. */
  ended: Promise<void>;
}

/** A TCP connection that keeps its own half open until it is destroyed. */
export async function rawSocket(port: number): Promise<RawSocket> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  let text = '';
  socket
    .on('error', () => {})
    .on('data', data => {
      text += data.toString('latin1');
    });
  const ended = new Promise<void>(resolve => socket.once('end', resolve).once('close', resolve));
  await once(socket, 'connect');
  return { socket, text: () => text, ended };
}

export const upgradeTo = (path: string) =>
  `GET ${path} HTTP/1.1\r\nHost: worker\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n\r\n`;

interface FrameOptions {
  /** The first byte: FIN, reserved bits and opcode. By default an unfragmented text frame. */
  first?: number;
  masked?: boolean;
  /** The length in the frame header. */
  length?: number;
}

/** A valid or deliberately invalid frame of RFC 6455. */
export function frame(
  payload: Buffer | string,
  { first = 0x81, masked = true, length }: FrameOptions = {},
): Buffer {
  const bytes = Buffer.from(payload);
  const head = Buffer.alloc(10);
  head[0] = first;
  head[1] = (masked ? 0x80 : 0) | 127;
  head.writeBigUInt64BE(BigInt(length ?? bytes.length), 2);
  return Buffer.concat([head, masked ? Buffer.alloc(4) : Buffer.alloc(0), bytes]);
}

/** Claims a slot over a raw socket. */
export async function rawSlot(worker: TestWorker): Promise<RawSocket> {
  const raw = await rawSocket(worker.worker.port());
  raw.socket.write(upgradeTo(`/v1/slot?ticket=${worker.ticket()}`));
  await once(raw.socket, 'data');
  if (!raw.text().startsWith('HTTP/1.1 101')) throw new Error(raw.text());
  return raw;
}

type Reply = {
  id: number;
  result?: Record<string, unknown>;
  error?: { code: number; message: string };
};

export interface PlainSlot {
  socket: WebSocket;
  /** Sends any text as a frame and waits for the response to this id. */
  ask(id: number, text: string): Promise<Reply>;
  command(method: string, params?: object, more?: object): Promise<Reply>;
  close(): Promise<void>;
}

/** Claims a slot with a client that sends any command. */
export async function plainSlot(
  worker: TestWorker,
  changes: Partial<Ticket> = {},
): Promise<PlainSlot> {
  const socket = new WebSocket(`${worker.address}/v1/slot?ticket=${worker.ticket(changes)}`);
  const waiting = new Map<number, (reply: Reply) => void>();
  const over = Promise.withResolvers<never>();
  over.promise.catch(() => {});
  socket.on('message', data => {
    const reply = JSON.parse(String(data)) as Reply;
    waiting.get(reply.id)?.(reply);
  });
  socket.on('close', (code, reason) =>
    over.reject(new Error(`the slot was closed with ${code} (${reason})`)),
  );
  await once(socket, 'open');
  let last = 0;
  const ask = (id: number, text: string) => {
    const reply = new Promise<Reply>(resolve => waiting.set(id, resolve));
    socket.send(text);
    return Promise.race([reply, over.promise]);
  };
  return {
    socket,
    ask,
    command: (method, params = {}, more = {}) =>
      ask(++last, JSON.stringify({ id: last, method, params, ...more })),
    close: async () => {
      const closed = once(socket, 'close');
      socket.close();
      await closed;
    },
  };
}
