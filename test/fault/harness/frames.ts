// Splits a stream of bytes into frames: chunks, WebSocket frames (RFC 6455) or MongoDB messages.

import { BSON, type Document } from 'mongodb';

export type FrameKind = 'bytes' | 'websocket' | 'mongodb';

export interface Frame {
  /** The bytes as received. */
  readonly wire: Buffer;
  /** The payload for rules; absent for the head of an upgrade and for a partial last frame. */
  payload?(): Buffer;
  /** The frame with another payload, of the same length for a WebSocket frame. */
  with?(payload: Buffer): Buffer;
  /** The opcode of a WebSocket frame: 1 text, 2 binary, 8 close, 9 ping, 10 pong. */
  readonly opcode?: number;
}

export interface Splitter {
  /** The frames completed by this chunk. Throws for another protocol. */
  push(chunk: Buffer): Frame[];
  /** The incomplete frame at the end of the stream. */
  rest(): Frame[];
}

/** Reads the first frame of non-empty bytes, or returns how many bytes are needed to continue. */
type Reader = (bytes: Buffer) => Frame | number;

/** For one direction of one connection. */
export function splitFrames(kind: FrameKind): Splitter {
  const read = { bytes: readChunk, websocket: webSocketReader(), mongodb: readMessage }[kind];
  let chunks: Buffer[] = [];
  let held = 0;
  let needed = 1;
  return {
    push: chunk => {
      chunks.push(chunk);
      held += chunk.length;
      if (held < needed) return [];
      let bytes = chunks.length === 1 ? chunk : Buffer.concat(chunks);
      const frames: Frame[] = [];
      for (needed = 1; bytes.length >= needed; ) {
        const frame = read(bytes);
        if (typeof frame === 'number') needed = frame;
        else {
          frames.push(frame);
          bytes = bytes.subarray(frame.wire.length);
        }
      }
      if (needed > MAX_FRAME_BYTES) throw notOf(kind, `a frame of ${needed} bytes`);
      chunks = bytes.length > 0 ? [bytes] : [];
      held = bytes.length;
      return frames;
    },
    rest: () => (held > 0 ? [{ wire: Buffer.concat(chunks) }] : []),
  };
}

/** Larger than any frame in these tests: a larger length means another protocol. */
const MAX_FRAME_BYTES = 256 * 1024 * 1024;

const notOf = (kind: FrameKind, what: string) =>
  new Error(
    `These bytes are no frames of the kind '${kind}': ${what}. Open the link with the kind that they are, or with 'bytes'.`,
  );

const readChunk: Reader = bytes => ({
  wire: bytes,
  payload: () => bytes,
  with: payload => payload,
});

const HEADER_BYTES = 16;
/** OP_REPLY, OP_QUERY, OP_COMPRESSED, OP_MSG. Otherwise TLS would look like a message of 33 MB. */
const OPCODES = [1, 2004, 2012, 2013];

const readMessage: Reader = bytes => {
  if (bytes.length < HEADER_BYTES) return HEADER_BYTES;
  const [length, opcode] = [bytes.readInt32LE(0), bytes.readInt32LE(12)];
  if (length < HEADER_BYTES || !OPCODES.includes(opcode))
    throw notOf('mongodb', `length ${length}, operation ${opcode}`);
  if (bytes.length < length) return length;
  const wire = bytes.subarray(0, length);
  return { wire, payload: () => wire, with: message => message };
};

/** Where the document of a MongoDB message begins; undefined when it is compressed. */
function documentAt(message: Buffer): number | undefined {
  if (message.readInt32LE(12) !== 2013) return undefined;
  // After the header and the flags come sections: kind 0 is the command's document, kind 1 a
  // sequence with its length.
  let at = HEADER_BYTES + 4;
  while (message[at] === 1) at += 1 + message.readInt32LE(at + 1);
  return at + 1;
}

/**
 * The command of a MongoDB message (`findAndModify`), or the first field of a response; undefined
 * when it is compressed.
 */
export function commandOf(message: Buffer): string | undefined {
  const at = documentAt(message);
  if (at === undefined) return undefined;
  // The document's length, the type of its first field, and the field's name up to a zero.
  const name = at + 4 + 1;
  return message.toString('utf8', name, message.indexOf(0, name));
}

const parsed = new WeakMap<Buffer, Document>();

/** The whole command of a MongoDB message with its sequences; empty when it is compressed. */
export function commandDocument(message: Buffer): Document {
  const known = parsed.get(message);
  if (known) return known;
  const command = readCommand(message);
  parsed.set(message, command);
  return command;
}

function readCommand(message: Buffer): Document {
  if (message.readInt32LE(12) !== 2013) return {};
  const command: Document = {};
  for (let at = HEADER_BYTES + 4; at < message.length; at += message.readInt32LE(at)) {
    if (message[at++] === 0)
      Object.assign(command, BSON.deserialize(message.subarray(at, at + message.readInt32LE(at))));
    else {
      // A sequence: its length, its name up to a zero, and its documents.
      const zero = message.indexOf(0, at + 4);
      command[message.toString('utf8', at + 4, zero)] = documentsIn(
        message.subarray(zero + 1, at + message.readInt32LE(at)),
      );
    }
  }
  return command;
}

function documentsIn(bytes: Buffer): Document[] {
  const documents: Document[] = [];
  for (let at = 0; at < bytes.length; at += bytes.readInt32LE(at))
    documents.push(BSON.deserialize(bytes.subarray(at, at + bytes.readInt32LE(at))));
  return documents;
}

/** HTTP up to the blank line; then frames if the connection was upgraded, else opaque bytes. */
function webSocketReader(): Reader {
  let read: Reader = bytes => {
    const end = bytes.indexOf('\r\n\r\n') + 4;
    if (end < 4 && bytes.length > MAX_HEAD_BYTES)
      throw notOf('websocket', `no end of a head in ${bytes.length} bytes`);
    if (end < 4) return bytes.length + 1;
    const wire = bytes.subarray(0, end);
    const head = wire.toString('latin1');
    const upgraded = head.startsWith('HTTP/')
      ? /^HTTP\/1\.1 101\b/.test(head)
      : /^upgrade: *websocket\r$/im.test(head);
    read = upgraded ? readWebSocketFrame : unseen => ({ wire: unseen });
    return { wire };
  };
  return bytes => read(bytes);
}

const MAX_HEAD_BYTES = 64 * 1024;

const readWebSocketFrame: Reader = bytes => {
  if (bytes.length < 2) return 2;
  const short = bytes[1]! & 0x7f;
  const masked = bytes[1]! > 0x7f;
  const lengthBytes = short === 127 ? 8 : short === 126 ? 2 : 0;
  const start = 2 + lengthBytes + (masked ? 4 : 0);
  if (bytes.length < start) return start;
  const length =
    lengthBytes === 8
      ? Number(bytes.readBigUInt64BE(2))
      : lengthBytes === 2
        ? bytes.readUInt16BE(2)
        : short;
  if (bytes.length < start + length) return start + length;
  const wire = bytes.subarray(0, start + length);
  const body = wire.subarray(start);
  const mask = wire.subarray(start - 4, start);
  const masks = (plain: Buffer) =>
    masked ? Buffer.from(plain.map((byte, index) => byte ^ mask[index & 3]!)) : plain;
  return {
    wire,
    opcode: bytes[0]! & 0x0f,
    payload: () => masks(body),
    with: payload => {
      if (payload.length !== length)
        throw new Error(
          `A WebSocket frame of ${length} bytes can not be rewritten into ${payload.length}.`,
        );
      return Buffer.concat([wire.subarray(0, start), masks(payload)]);
    },
  };
};
