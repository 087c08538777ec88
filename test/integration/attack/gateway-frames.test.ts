import { expect } from 'chai';
import { pino } from 'pino';
import {
  frame,
  type PlainSlot,
  plainSlot,
  type RawSocket,
  rawSlot,
} from '../../support/gateway-client.ts';
import { startWorker, type TestWorker } from '../../support/worker.ts';

describe('the gateway ends only the attacker’s slot for', () => {
  const lines: string[] = [];
  let worker: TestWorker;
  let neighbour: PlainSlot;
  let raw: RawSocket | undefined;

  before(async () => {
    worker = await startWorker(
      {},
      pino({ level: 'debug' }, { write: (line: string) => void lines.push(line) }),
    );
    await worker.until({ ready: 2 });
    neighbour = await plainSlot(worker, { maxMs: 300_000 });
  });
  after(async () => {
    await neighbour.close();
    await worker.stop();
  });
  afterEach(async () => {
    raw?.socket.destroy();
    expect(
      (await neighbour.command('Runtime.evaluate', { expression: '6 * 7' })).result,
    ).to.have.nested.property('result.value', 42);
  });

  /** Opens a slot with a socket that writes raw bytes. */
  const attacker = async () => {
    raw?.socket.destroy();
    await worker.until({ busy: 1, ready: 1 });
    lines.length = 0;
    raw = await rawSlot(worker);
    return raw;
  };
  const half = frame('{"id":1,', { first: 0x01 });
  const deep = `{"id":1,"method":"Page.printToPDF","params":{"a":${'['.repeat(300)}${']'.repeat(300)}}}`;
  const invalid: [string, Buffer][] = [
    ['a binary frame', frame('{}', { first: 0x82 })],
    ['text that is not UTF-8', frame(Buffer.from([0x7b, 0xff, 0xfe, 0x7d]))],
    ['a frame without a mask', frame('{"id":1,"method":"Runtime.enable"}', { masked: false })],
    ['a compressed frame without negotiation', frame('{}', { first: 0xc1 })],
    ['the second reserved bit', frame('{}', { first: 0xa1 })],
    ['the third reserved bit', frame('{}', { first: 0x91 })],
    ['an unknown opcode', frame('{}', { first: 0x83 })],
    ['an unknown control opcode', frame('', { first: 0x8b })],
    ['a continuation without a first fragment', frame('{}', { first: 0x80 })],
    ['a text between the fragments of another', Buffer.concat([half, frame('{}')])],
    ['a fragmented ping', frame('', { first: 0x09 })],
    ['a ping with too long a payload', frame('x'.repeat(126), { first: 0x89 })],
    ['a close frame of one byte', frame('x', { first: 0x88 })],
    ['a close frame with an invalid code', frame(Buffer.from([0, 1]), { first: 0x88 })],
    ['a frame with a declared length of 65 MiB', frame('{', { length: 65 * 2 ** 20 })],
    ['a frame with a declared length of 2^62 bytes', frame('{', { length: 2 ** 62 })],
    [
      '20,000 fragments',
      Buffer.concat([half, ...Array.from({ length: 20_000 }, () => frame(' ', { first: 0x00 }))]),
    ],
    ['HTTP instead of frames', Buffer.from('GET / HTTP/1.1\r\n\r\n')],
    ['text that is not JSON', frame('what?')],
    ['an empty text', frame('')],
    ['a JSON array', frame('[]')],
    ['JSON nested 100,000 deep', frame('['.repeat(100_000))],
    ['a command nested 300 deep, to which Chrome would respond without an id', frame(deep)],
    ['a command without an id', frame('{"method":"Runtime.enable"}')],
    [
      'a command with an id of the worker’s own commands',
      frame('{"id":1000000000,"method":"Runtime.enable"}'),
    ],
    ['a command with an id that is not an integer', frame('{"id":1.5,"method":"Runtime.enable"}')],
    [
      'a command with an array as parameters',
      frame('{"id":1,"method":"Runtime.enable","params":[]}'),
    ],
    [
      'a command of 2 MiB that sets no document',
      frame(
        `{"id":1,"method":"Runtime.evaluate","params":{"expression":"${' '.repeat(2 ** 21)}"}}`,
      ),
    ],
  ];
  for (const [what, bytes] of invalid)
    it(what, async () => {
      const raw = await attacker();
      raw.socket.write(bytes);
      await raw.ended;
      await worker.until({ busy: 1 });
      const ended = lines.map(line => JSON.parse(line)).filter(({ msg }) => msg === 'ended a slot');
      expect(ended).to.have.length(1);
      expect(ended[0]).to.include({ level: 40, reason: 'refused', renderId: 'test' });
      expect(lines.join('')).to.not.include('ticket=');
    });

  it('an invalid frame, even when the attacker keeps its half of the connection open', async () => {
    const raw = await attacker();
    raw.socket.pause();
    raw.socket.write(frame('{}', { first: 0xf1 }));
    await worker.until({ busy: 1, ready: 1 });
    raw.socket.resume();
    await raw.ended;
  });

  for (const [what, command] of [
    ['endless pings', '{"id":1,"method":"Pressroom.ping"}'],
    ['endless forbidden commands', '{"id":1,"method":"Browser.close"}'],
  ] as const)
    it(`${what} without reading the responses`, async () => {
      const raw = await attacker();
      raw.socket.pause();
      const many = Buffer.concat(Array.from({ length: 1_000 }, () => frame(command)));
      const ended = () => lines.some(line => line.includes('"reason":"flooded"'));
      for (let sent = 0; sent < 500 && !ended(); sent++)
        await new Promise(resolve => raw.socket.write(many, resolve));
      expect(ended()).to.equal(true);
      await worker.until({ busy: 1, ready: 1 });
    });

  it('random bytes, without a crash of the worker', async () => {
    for (let seed = 1; seed <= 20; seed++) {
      const raw = await attacker();
      const bytes = Buffer.from(
        Array.from(
          { length: 2_000 },
          (_, i) => (Math.imul(seed * 2_654_435_761, i + 1) >>> 16) & 0xff,
        ),
      );
      raw.socket.end(bytes);
      await raw.ended;
    }
    await worker.until({ busy: 1 });
  });
});
