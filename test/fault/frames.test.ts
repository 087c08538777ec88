import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { commandOf, splitFrames } from './harness/frames.ts';

describe('the frame splitter of the test link', () => {
  /** A frame by RFC 6455. */
  function webSocketFrame(payload: Buffer, masked: boolean): Buffer {
    const { length } = payload;
    const head = Buffer.alloc(length > 0xffff ? 10 : length > 125 ? 4 : 2);
    head[0] = 0x82;
    head[1] = (masked ? 0x80 : 0) | (length > 0xffff ? 127 : length > 125 ? 126 : length);
    if (length > 0xffff) head.writeBigUInt64BE(BigInt(length), 2);
    else if (length > 125) head.writeUInt16BE(length, 2);
    if (!masked) return Buffer.concat([head, payload]);
    const mask = randomBytes(4);
    return Buffer.concat([head, mask, payload.map((byte, index) => byte ^ mask[index % 4]!)]);
  }
  function mongoMessage(document: Buffer): Buffer {
    const head = Buffer.alloc(16);
    head.writeInt32LE(16 + document.length, 0);
    head.writeInt32LE(2013, 12);
    return Buffer.concat([head, document]);
  }
  const upgrade = Buffer.from(
    'GET /v1/slot HTTP/1.1\r\nHost: worker\r\nUpgrade: websocket\r\n\r\n',
  );
  const payloads = fc.array(
    fc
      .oneof(fc.nat(200), fc.integer({ min: 65_530, max: 65_540 }))
      .map(length => randomBytes(length)),
    {
      minLength: 1,
      maxLength: 6,
    },
  );
  /** The payloads when the bytes arrive in pieces of these sizes. */
  function split(kind: 'websocket' | 'mongodb', bytes: Buffer, sizes: number[]) {
    const splitter = splitFrames(kind);
    const frames = [];
    for (let at = 0, turn = 0; at < bytes.length; turn++) {
      const size = sizes[turn % sizes.length]!;
      frames.push(...splitter.push(bytes.subarray(at, at + size)));
      at += size;
    }
    expect(Buffer.concat(frames.map(({ wire }) => wire)).equals(bytes)).to.equal(true);
    expect(splitter.rest()).to.deep.equal([]);
    return frames.flatMap(({ payload }) => (payload ? [payload().toString('base64')] : []));
  }
  const pieces = fc.array(
    fc.oneof(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 200_000 })),
    { minLength: 1 },
  );

  it('finds frames in WebSockets, however the bytes arrive', () => {
    fc.assert(
      fc.property(payloads, pieces, fc.boolean(), (sent, sizes, masked) => {
        const bytes = Buffer.concat([
          upgrade,
          ...sent.map(payload => webSocketFrame(payload, masked)),
        ]);
        expect(split('websocket', bytes, sizes)).to.deep.equal(
          sent.map(payload => payload.toString('base64')),
        );
      }),
      { numRuns: 50 },
    );
  });

  it('finds messages in MongoDB’s protocol, however the bytes arrive', () => {
    fc.assert(
      fc.property(payloads, pieces, (sent, sizes) => {
        const messages = sent.map(mongoMessage);
        expect(split('mongodb', Buffer.concat(messages), sizes)).to.deep.equal(
          messages.map(message => message.toString('base64')),
        );
      }),
      { numRuns: 50 },
    );
  });

  it('passes on a partial frame when the stream ends', () => {
    const whole = webSocketFrame(Buffer.from('a message'), true);
    const splitter = splitFrames('websocket');
    splitter.push(upgrade);
    expect(
      splitter.push(whole.subarray(0, 3)).length + splitter.push(whole.subarray(3, 8)).length,
    ).to.equal(0);
    const [rest] = splitter.rest();
    expect(rest!.wire.equals(whole.subarray(0, 8))).to.equal(true);
    expect(rest!.payload).to.equal(undefined);
  });

  it('finds no frames after a rejected upgrade', () => {
    const splitter = splitFrames('websocket');
    const head = 'HTTP/1.1 503 Service Unavailable\r\nUpgrade: websocket\r\n\r\n';
    const frames = splitter.push(Buffer.from(`${head}no slot is free`));
    expect(frames.map(({ wire }) => wire.toString())).to.deep.equal([head, 'no slot is free']);
    expect(frames.some(({ payload }) => payload)).to.equal(false);
  });

  it('reads the name of a MongoDB command, even after a document sequence', () => {
    const flags = Buffer.alloc(4);
    const command = Buffer.concat([
      Buffer.from([0]),
      Buffer.from('0f000000', 'hex'),
      Buffer.from('\x10insert\0'),
    ]);
    const sequence = Buffer.concat([
      Buffer.from([1]),
      Buffer.from('09000000', 'hex'),
      Buffer.from('docs\0'),
    ]);
    expect(commandOf(mongoMessage(Buffer.concat([flags, command])))).to.equal('insert');
    expect(commandOf(mongoMessage(Buffer.concat([flags, sequence, command])))).to.equal('insert');
    expect(commandOf(Buffer.alloc(30))).to.equal(undefined);
  });

  it('throws for other protocols', () => {
    const tlsHandshake = Buffer.from('16030102000100', 'hex');
    expect(() =>
      splitFrames('mongodb').push(Buffer.concat([tlsHandshake, randomBytes(100)])),
    ).to.throw("'mongodb'");
    expect(() => splitFrames('websocket').push(Buffer.alloc(70_000, 'x'))).to.throw("'websocket'");
  });
});
